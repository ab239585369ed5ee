/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/region_quantity.h"
#include "store/model.h"

extern const struct experiment experiment_regions;

const struct experiment experiment_regions = {
	.name = "regions",
	.summary = "blocks that the program marks, and functions compiled to tell: calls, "
		   "time",
	.trigger = EXPERIMENT_REGIONS,
	.only_source = "tracer",
	.choose = region_quantity_find,
	.unit = "count",
	.on = 1,
	.hi = 1,
	.lo = 1,
	.min = 1,
	.max = 1,
	.n_events = EXPERIMENT_REGIONS_N_EVENTS,
	.events = {
		[EXPERIMENT_REGIONS_TIME] = { .name = "region-time", .unit = "ns",
					      .description = "in marked blocks",
					      .flags = EVENT_EXACT },
		[EXPERIMENT_REGIONS_CALLS] = { .name = "region-calls", .unit = "count",
					       .description = "times they were begun",
					       .flags = EVENT_EXACT },
		[EXPERIMENT_REGIONS_COUNTED] = { .name = "counted", .unit = "count",
						 .description = "by the program's own "
								"counters",
						 .flags = EVENT_EXACT | EVENT_ASIDE },
	},
};
