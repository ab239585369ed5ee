/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_waits - the time that threads spend off their CPU, from switch records.
 *
 * Leaving the CPU gives a stack and a record that says whether the thread could have gone
 * on; coming back ends the wait and charges it to that stack.
 */
#ifndef DWELL_COLLECT_PERF_WAITS_H
#define DWELL_COLLECT_PERF_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "collect/tracker.h"

struct perf_waits;

/* The events (ids in the recording) that the two kinds of waiting are charged to. */
struct perf_waits *perf_waits_new(struct tracker *t, uint32_t blocked_event,
				  uint32_t wait_cpu_event);
void perf_waits_free(struct perf_waits *w);

/* A thread begins to exist, able to run. */
void perf_waits_fork(struct perf_waits *w, uint64_t time_ns, uint32_t pid, uint32_t tid);
/* A thread that was there before: it waits with a stack nobody saw. */
void perf_waits_begin(struct perf_waits *w, uint64_t time_ns, uint32_t pid, uint32_t tid,
		      bool is_blocked);
/* The stack with which it is about to leave its CPU. */
void perf_waits_stack(struct perf_waits *w, uint32_t pid, uint32_t tid, uint32_t stack);
void perf_waits_out(struct perf_waits *w, uint64_t time_ns, uint32_t pid, uint32_t tid,
		    uint32_t cpu, bool is_preempted);
void perf_waits_in(struct perf_waits *w, uint64_t time_ns, uint32_t tid);
void perf_waits_exit(struct perf_waits *w, uint64_t time_ns, uint32_t tid);
/* Waits do not count from here on, or count again. */
void perf_waits_pause(struct perf_waits *w, uint64_t time_ns, bool is_paused);
/* The recording ends: charge what has not ended. */
void perf_waits_finish(struct perf_waits *w, uint64_t time_ns);
/* Waits that were charged. */
uint64_t perf_waits_count(const struct perf_waits *w);

#endif
