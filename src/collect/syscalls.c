/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"
#include "store/model.h"

extern const struct experiment experiment_syscalls;

const struct experiment experiment_syscalls = {
	.name = "syscalls",
	.summary = "every system call: how often, how long and with what errors",
	.trigger = EXPERIMENT_SYSCALLS,
	.unit = "count",
	.on = 1,
	.hi = 1,
	.lo = 1,
	.min = 1,
	.max = 1,
	.n_events = 3,
	.events = {
		[EXPERIMENT_CALL_TIME] = {
			.name = "syscall-time",
			.unit = "ns",
			.description = "time in system calls, running or waiting",
			.flags = EVENT_EXACT,
		},
		[EXPERIMENT_CALLS] = {
			.name = "syscalls",
			.unit = "count",
			.description = "system calls that returned",
			.flags = EVENT_EXACT,
		},
		[EXPERIMENT_CALL_ERRORS] = {
			.name = "syscall-errors",
			.unit = "count",
			.description = "system calls that returned an error",
			.flags = EVENT_EXACT,
		},
	},
};
