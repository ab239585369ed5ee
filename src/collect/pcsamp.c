/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"
#include "store/model.h"

extern const struct experiment experiment_pcsamp;

const struct experiment experiment_pcsamp = {
	.name = "pcsamp",
	.summary = "where CPU time goes, instruction by instruction, without callers",
	.trigger = EXPERIMENT_CPU_TIME,
	.is_pc_only = true,
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
			.flags = EVENT_SAMPLED | EVENT_PC_ONLY,
			.is_periodic = true,
		},
	},
};
