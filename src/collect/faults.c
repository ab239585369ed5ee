/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"
#include "store/model.h"

extern const struct experiment experiment_faults;

const struct experiment experiment_faults = {
	.name = "faults",
	.summary = "page faults, minor and major, with call stacks",
	.trigger = EXPERIMENT_FAULTS,
	.unit = "count",
	.on = 1,
	.hi = 1,
	.lo = 100,
	.min = 1,
	.max = 1000000000,
	.n_events = 2,
	.events = {
		[EXPERIMENT_MINOR_FAULTS] = {
			.name = "minor-faults",
			.unit = "count",
			.description = "page faults served from memory",
			.is_periodic = true,
		},
		[EXPERIMENT_MAJOR_FAULTS] = {
			.name = "major-faults",
			.unit = "count",
			.description = "page faults that waited for input",
			.is_periodic = true,
		},
	},
};
