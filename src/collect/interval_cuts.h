/* SPDX-License-Identifier: Apache-2.0
 *
 * interval_cuts - the ends of intervals, in the order of their times although some are
 * heard of late: a mark of a program comes when its ring is looked at.
 *
 * An end waits until no earlier one is expected; then the interval and what was counted
 * by then go into the recording.  Zero-initialise.  One thread.
 */
#ifndef DWELL_COLLECT_INTERVAL_CUTS_H
#define DWELL_COLLECT_INTERVAL_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct gauge;
struct interval_cut;
struct writer;

struct interval_cuts {
	struct writer *writer; /* borrowed */
	uint64_t from_ns;      /* the earliest interval that has not ended begins */
	VEC(struct interval_cut) waiting;
};

void interval_cuts_begin(struct interval_cuts *c, struct writer *w, uint64_t from_ns);
/* What waits is dropped. */
void interval_cuts_fini(struct interval_cuts *c);

/* False: what ended at that time is in the recording already. */
bool interval_cuts_may_end(const struct interval_cuts *c, uint64_t time_ns);
/* An end that was heard of is later than that. */
bool interval_cuts_is_behind(const struct interval_cuts *c, uint64_t time_ns);
/* One that may end then; the gauges are copied.  One that is behind others takes what
 * was counted at the next of these: gauges are not looked at. */
void interval_cuts_add(struct interval_cuts *c, uint64_t time_ns, const char *cause,
		       const char *name, const struct gauge *gauges, size_t n_gauges);
/* No end until then, exclusive, will be heard of any more. */
void interval_cuts_settle(struct interval_cuts *c, uint64_t until_ns);

#endif
