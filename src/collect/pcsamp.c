/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment_cpu.h"

extern const struct experiment experiment_pcsamp;

const struct experiment experiment_pcsamp = {
	.name = "pcsamp",
	.summary = "where CPU time goes, instruction by instruction, without callers",
	.trigger = EXPERIMENT_CPU_TIME,
	.is_pc_only = true,
	EXPERIMENT_CPU_INTERVALS,
	.n_events = 1,
	.events = {
		{
			EXPERIMENT_CPU_COLUMN,
			.flags = EVENT_SAMPLED | EVENT_PC_ONLY,
		},
	},
};
