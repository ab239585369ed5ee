/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_blocked - the waits that were under way before the recording began.
 *
 * A thread that is blocked when it is attached to gives no switch record before it runs
 * again.  Its stack is read from outside, without stopping or waking it, and counts only
 * when the thread has not run meanwhile.  Registers that the kernel does not tell stay
 * unknown until a frame has saved them; a stack that needs one before ends there.
 */
#ifndef DWELL_COLLECT_PERF_BLOCKED_H
#define DWELL_COLLECT_PERF_BLOCKED_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/own.h"
#include "collect/perf_waits.h"
#include "collect/tracker.h"

struct perf_blocked;

/* Both are borrowed.  has_kernel: the kernel's part of the stacks too. */
struct perf_blocked *perf_blocked_new(struct tracker *t, struct perf_waits *w,
				      bool has_kernel);
void perf_blocked_free(struct perf_blocked *b);
void perf_blocked_freep(struct perf_blocked **b);

/* Begin the wait of a thread, if it does wait; the tracker knows the process' mappings.
 */
void perf_blocked_begin(struct perf_blocked *b, pid_t pid, pid_t tid);

#endif
