/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"
#include "store/model.h"

extern const struct experiment experiment_bbcounts;

const struct experiment experiment_bbcounts = {
	.name = "bbcounts",
	.summary = "how often each instruction, basic block and call was executed, exactly",
	.trigger = EXPERIMENT_BASIC_BLOCKS,
	.only_source = "count",
	.alone_because = "with it programs run other code than their own",
	.is_pc_only = true,
	.unit = "count",
	.on = 1,
	.hi = 1,
	.lo = 1,
	.min = 1,
	.max = 1,
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
