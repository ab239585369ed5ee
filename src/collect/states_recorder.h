/* SPDX-License-Identifier: Apache-2.0
 *
 * states_recorder - the states of threads, into one recording after the other.
 *
 * A recorder (collect/recorder.h) of one plan; of processes only, when its settings have
 * a scope.
 */
#ifndef DWELL_COLLECT_STATES_RECORDER_H
#define DWELL_COLLECT_STATES_RECORDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/recorder.h"

/* Before start(): this process is in the scope; from its next exec on when awaits_exec.
 */
must_use int states_recorder_follow(struct recorder *r, pid_t pid, bool awaits_exec,
				    struct err *e);

#endif
