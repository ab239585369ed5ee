/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment_exact.h"

extern const struct experiment experiment_bbcounts;

const struct experiment experiment_bbcounts = {
	.name = "bbcounts",
	.summary = "how often each instruction, basic block and call was executed, exactly",
	.trigger = EXPERIMENT_BASIC_BLOCKS,
	.only_source = "count",
	.alone_because = "with it programs run other code than their own",
	.is_pc_only = true,
	EXPERIMENT_EXACT_INTERVALS,
	.n_events = 1,
	.events = {
		{
			.name = "instructions",
			.unit = "count",
			.description = "instructions executed in user mode",
			.flags = EVENT_EXACT | EVENT_PC_ONLY,
			.is_periodic = true,
		},
	},
};
