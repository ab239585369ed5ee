/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment_exact.h"
#include "collect/region_quantity.h"

extern const struct experiment experiment_regions;

const struct experiment experiment_regions = {
	.name = "regions",
	.summary = "blocks that the program marks, and functions compiled to tell: calls, "
		   "time",
	.trigger = EXPERIMENT_REGIONS,
	.only_source = "tracer",
	.choose = region_quantity_find,
	EXPERIMENT_EXACT_INTERVALS,
	.n_events = EXPERIMENT_REGIONS_N_EVENTS,
	.events = {
		[EXPERIMENT_REGIONS_TIME] = EXPERIMENT_EXACT("region-time", "ns",
			"in marked blocks"),
		[EXPERIMENT_REGIONS_CALLS] = EXPERIMENT_EXACT("region-calls", "count",
			"times they were begun"),
		[EXPERIMENT_REGIONS_COUNTED] = EXPERIMENT_ASIDE("counted", "count",
			"by the program's own counters"),
	},
};
