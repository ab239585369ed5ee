/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"
#include "store/model.h"

extern const struct experiment experiment_usertime;

const struct experiment experiment_usertime = {
	.name = "usertime",
	.summary = "where CPU time goes, with full call stacks",
	.trigger = EXPERIMENT_CPU_TIME,
	.has_variants = true,
	.unit = "ns",
	.on = 10000000,
	.hi = 1000000,
	.lo = 100000000,
	.min = 10000,
	.max = UINT64_C(10000000000),
	.n_events = 1,
	.events = {
		{
			.name = "cpu-time",
			.unit = "ns",
			.description = "CPU time, user and system",
			.flags = EVENT_SAMPLED,
			.is_periodic = true,
		},
	},
};
