/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_length - when a window of exact counts, or the moment before or behind it, has
 * been long enough.
 *
 * By the CPU time of a process, which the kernel adds up at its ticks while it runs: what
 * it tells then is up to one tick old, and a tick is as long as a window.  Who has run
 * all of the time has had the wall's.
 */
#ifndef DWELL_COLLECT_ANCHOR_LENGTH_H
#define DWELL_COLLECT_ANCHOR_LENGTH_H

#include <stdbool.h>
#include <stdint.h>

struct anchor_length {
	uint64_t cpu_ns;  /* that it is to have */
	uint64_t wall_ns; /* it is no longer than that, of programs that wait */
	uint64_t tick_ns;
};

/* As long as the kernel's tick is. */
struct anchor_length anchor_length_of(uint64_t cpu_ns, uint64_t wall_ns);
/* Since it began, as the process's clock has it and by the wall. */
bool anchor_length_is_over(const struct anchor_length *l, uint64_t cpu_ns,
			   uint64_t wall_ns);

#endif
