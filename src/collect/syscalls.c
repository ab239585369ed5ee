/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment_exact.h"

extern const struct experiment experiment_syscalls;

const struct experiment experiment_syscalls = {
	.name = "syscalls",
	.summary = "every system call: how often, how long and with what errors",
	.trigger = EXPERIMENT_SYSCALLS,
	EXPERIMENT_EXACT_INTERVALS,
	.n_events = 3,
	.events = {
		[EXPERIMENT_CALL_TIME] = EXPERIMENT_EXACT("syscall-time", "ns",
			"time in system calls, running or waiting"),
		[EXPERIMENT_CALLS] = EXPERIMENT_EXACT("syscalls", "count",
			"system calls that returned"),
		[EXPERIMENT_CALL_ERRORS] = EXPERIMENT_EXACT("syscall-errors", "count",
			"system calls that returned an error"),
	},
};
