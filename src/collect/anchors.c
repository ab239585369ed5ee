/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"
#include "store/model.h"

extern const struct experiment experiment_anchors;

/* No column: what it tells is how often what others sample was executed. */
const struct experiment experiment_anchors = {
	.name = "anchors",
	.summary = "beside samples of time: how often, by exact counts now and then",
	.trigger = EXPERIMENT_ANCHORS,
	.only_source = "anchors",
	.unit = "%",
	.on = 1,
	.hi = 5,
	.lo = 1,
	.min = 1,
	.max = 50,
};
