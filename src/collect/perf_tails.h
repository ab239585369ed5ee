/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_tails - what threads' own clocks did not live to sample.
 *
 * The clock of a thread (one per CPU) samples after every interval of its CPU time, from
 * zero: what a thread has used since the last sample is lost with it when it ends, and
 * one that ends before its first interval is never seen.  A grid that samples whatever
 * runs on a CPU meets threads in these times too.  Its samples are kept here until the
 * thread's own clock has sampled what they would stand for, which discards them, or the
 * thread ends, which makes them samples.  So each stands, on average, for the CPU time
 * that was not sampled otherwise.
 */
#ifndef DWELL_COLLECT_PERF_TAILS_H
#define DWELL_COLLECT_PERF_TAILS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/tracker.h"

struct perf_tail {
	struct tracker_draft draft; /* its event and CPU say which clock's */
	bool is_kernel;		    /* was in kernel mode */
	/* The grid is so coarse against the clock that a sample would be a larger error
	 * than what a thread with own samples can lack: only for threads without. */
	bool is_coarse;
};

/* A tail has become a sample. */
typedef void perf_tails_fn(void *ctx, const struct perf_tail *t);

struct perf_tails;

struct perf_tails *perf_tails_new(perf_tails_fn *fn, void *ctx);
void perf_tails_free(struct perf_tails *t);

/* The clock of a thread on a CPU has sampled for an event (its id in the recording). */
void perf_tails_own(struct perf_tails *t, uint32_t tid, uint32_t event, uint32_t cpu);
/* Was there no own sample for the event yet? */
bool perf_tails_is_unsampled(const struct perf_tails *t, uint32_t tid, uint32_t event);
void perf_tails_add(struct perf_tails *t, uint32_t tid, const struct perf_tail *tail);
/* The id is a new thread's. */
void perf_tails_fork(struct perf_tails *t, uint32_t tid);
/* The thread runs another program.  One that is not the leader takes the leader's id for
 * it, after the leader's exit. */
void perf_tails_exec(struct perf_tails *t, uint32_t tid);
/* The clocks of the thread end; the thread still works some time at its own end.  True
 * when something of it was sampled. */
bool perf_tails_exit(struct perf_tails *t, uint32_t tid);
/* The recording ends for all threads. */
void perf_tails_finish(struct perf_tails *t);

#endif
