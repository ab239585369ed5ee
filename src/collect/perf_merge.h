/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_merge - the records of several rings as one stream in order of time.
 *
 * A record becomes visible a moment after its time was taken, so only what is older than
 * the horizon that the caller gives is handed out; the rest stays in its ring.
 */
#ifndef DWELL_COLLECT_PERF_MERGE_H
#define DWELL_COLLECT_PERF_MERGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/perf_ring.h"

struct perf_merge_head {
	uint64_t time_ns;
	struct perf_ring *ring;
	const void *record;
	size_t size;
};

struct perf_merge {
	VEC(struct perf_ring *) rings; /* borrowed */
	VEC(struct perf_merge_head) heap;
};

typedef void perf_merge_fn(void *ctx, const void *record, size_t size);

void perf_merge_fini(struct perf_merge *m);
void perf_merge_add(struct perf_merge *m, struct perf_ring *ring);
void perf_merge_remove(struct perf_merge *m, const struct perf_ring *ring);
/* Calls fn for every record up to horizon_ns. */
void perf_merge_drain(struct perf_merge *m, uint64_t horizon_ns, perf_merge_fn *fn,
		      void *ctx);

#endif
