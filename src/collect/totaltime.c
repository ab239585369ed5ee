/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment_cpu.h"

extern const struct experiment experiment_totaltime;

/* The three columns of a thread sum to its wall time. */
const struct experiment experiment_totaltime = {
	.name = "totaltime",
	.summary = "where wall-clock time goes in every thread, running or blocked",
	.trigger = EXPERIMENT_THREAD_TIME,
	EXPERIMENT_CPU_INTERVALS,
	.n_events = 3,
	.events = {
		[EXPERIMENT_CPU] = {
			EXPERIMENT_CPU_COLUMN,
			.flags = EVENT_SAMPLED,
		},
		[EXPERIMENT_BLOCKED] = {
			.name = "blocked-time",
			.unit = "ns",
			.description = "waiting for something: from leaving the CPU to "
				       "running again",
			.flags = EVENT_EXACT,
		},
		[EXPERIMENT_WAIT_CPU] = {
			.name = "wait-cpu-time",
			.unit = "ns",
			.description = "able to run, but another thread had the CPU",
			.flags = EVENT_EXACT,
		},
	},
};
