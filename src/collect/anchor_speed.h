/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_speed - how long a process takes natively for what it executes in windows of
 * exact counts.
 *
 * What a window costs is what it takes longer there.  Counters tell how long it takes
 * natively, by how often they were met right before; all windows that they tell of tell
 * how long an instruction takes, and so of the others, too: also of those before, what
 * was supposed of which is mended then.
 */
#ifndef DWELL_COLLECT_ANCHOR_SPEED_H
#define DWELL_COLLECT_ANCHOR_SPEED_H

#include <stdint.h>

/* Of the windows that are told of.  Nothing is known where it is empty. */
struct anchor_speed {
	double n_insns, native_ns;
	/* Of those before the first of them, together. */
	struct {
		double n_insns, counted_ns, native_ns;
	} supposed;
};

/* A window, and how long it takes natively. */
void anchor_speed_add(struct anchor_speed *s, double n_insns, double native_ns);
/* Natively, about, of what took so long in a window; no longer than that. */
uint64_t anchor_speed_native_ns(const struct anchor_speed *s, double counted_ns,
				double n_insns);
/* The same of a window that is over; while nothing is known it is supposed. */
uint64_t anchor_speed_take(struct anchor_speed *s, double counted_ns, double n_insns);
/* How much longer than supposed windows took natively, as it is known now; once. */
double anchor_speed_mend(struct anchor_speed *s);

#endif
