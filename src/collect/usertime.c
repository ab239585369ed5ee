/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment_cpu.h"

extern const struct experiment experiment_usertime;

const struct experiment experiment_usertime = {
	.name = "usertime",
	.summary = "where CPU time goes, with full call stacks",
	.trigger = EXPERIMENT_CPU_TIME,
	EXPERIMENT_CPU_INTERVALS,
	.n_events = 1,
	.events = {
		{
			EXPERIMENT_CPU_COLUMN,
			.flags = EVENT_SAMPLED,
		},
	},
};
