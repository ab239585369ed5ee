/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_feed - what perf records mean: hands each to the tracker.
 */
#ifndef DWELL_COLLECT_PERF_FEED_H
#define DWELL_COLLECT_PERF_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "collect/perf_counted.h"
#include "collect/perf_files.h"
#include "collect/perf_record.h"
#include "collect/perf_tails.h"
#include "collect/perf_waits.h"
#include "collect/source.h"
#include "collect/tracker.h"

struct perf_feed {
	struct tracker *tracker;
	struct writer *writer;
	struct perf_files *files;
	struct perf_waits *waits;    /* NULL: not asked for; owned by the source */
	struct perf_tails *tails;    /* NULL: threads have no clocks */
	uint64_t n_ended;	     /* threads, since somebody set it to 0 */
	uint64_t n_unsampled;	     /* threads that ended without any sample */
	const struct plan *cpu_plan; /* the plan whose CPU time stats add up, or NULL */
	struct map trace_types;	     /* event in the recording → its trace type */
	struct map *forked;	     /* NULL, or where to note new thread ids */
	struct perf_counted counted; /* by events whose periods change */
	struct source_stats stats;
	struct perf_record_sample sample; /* the one being taken */
	uint64_t stack_end;		  /* where its walk ended (perf_deep.h) */
};

/* CPU time is sampled by clocks of the threads: keep account of what these missed. */
void perf_feed_follow_clocks(struct perf_feed *f);
void perf_feed_fini(struct perf_feed *f);
/* What follows goes there; sums begin anew. */
void perf_feed_turn(struct perf_feed *f, struct tracker *tracker, struct writer *writer);
/* Take what is older than the horizon from all rings. */
void perf_feed_drain(struct perf_feed *f, uint64_t horizon_ns);
/* One record; a perf_merge_fn, ctx is the feed. */
void perf_feed_take(void *ctx, const void *record, size_t size);

#endif
