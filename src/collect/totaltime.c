/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"
#include "store/model.h"

extern const struct experiment experiment_totaltime;

/* The three columns of a thread sum to its wall time. */
const struct experiment experiment_totaltime = {
	.name = "totaltime",
	.summary = "where wall-clock time goes in every thread, running or blocked",
	.trigger = EXPERIMENT_THREAD_TIME,
	.has_variants = true,
	.unit = "ns",
	.on = 10000000,
	.hi = 1000000,
	.lo = 100000000,
	.min = 10000,
	.max = UINT64_C(10000000000),
	.n_events = 3,
	.events = {
		[EXPERIMENT_CPU] = {
			.name = "cpu-time",
			.unit = "ns",
			.description = "CPU time, user and system",
			.flags = EVENT_SAMPLED,
			.is_periodic = true,
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
