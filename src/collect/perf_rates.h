/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_rates - periods of events on whole CPUs, by the rate that was asked for.
 *
 * The kernel would do it itself, but what it does for software events does not lead
 * there: after a few that come fast it waits for as many as never come.
 */
#ifndef DWELL_COLLECT_PERF_RATES_H
#define DWELL_COLLECT_PERF_RATES_H

#include <stdint.h>

#include "base/vec.h"
#include "collect/perf_files.h"

/* What a file has counted: now, and when its period was set. */
struct perf_rates_file {
	uint64_t now, tuned;
};

struct perf_rates {
	VEC(struct perf_rates_file) files; /* by their indices */
};

void perf_rates_fini(struct perf_rates *r);
/* Often: the next periods, where it is time, by what was counted since the last.  A
 * stream has the same on all CPUs. */
void perf_rates_tune(struct perf_rates *r, struct perf_files *f, uint64_t now_ns);

#endif
