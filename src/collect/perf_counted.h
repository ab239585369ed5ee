/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_counted - how much an event has counted since its last sample.
 *
 * For events whose period the kernel changes all the time: what a sample says of its own
 * period is not always that which led to it, while what was counted is exact, and of
 * samples that are lost is in the next.
 */
#ifndef DWELL_COLLECT_PERF_COUNTED_H
#define DWELL_COLLECT_PERF_COUNTED_H

#include <stdint.h>

#include "base/map.h"

struct perf_counted {
	struct map before; /* event and thread → what it had counted */
};

void perf_counted_fini(struct perf_counted *c);
/* A sample of the event says what it has counted so far: of that thread, each of which
 * counts for itself; 0: of all that ran on its CPU. */
uint64_t perf_counted_since(struct perf_counted *c, uint64_t id, uint32_t tid,
			    uint64_t now);
/* The thread ends, and its number may be another's.  ids: of all events, as keys. */
void perf_counted_exit(struct perf_counted *c, const struct map *ids, uint32_t tid);

#endif
