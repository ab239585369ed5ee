/* SPDX-License-Identifier: Apache-2.0
 *
 * experiment_exact - what the experiments that observe every event have in common.
 *
 * The part of an initialiser of a struct experiment that says so, and initialisers of its
 * columns: EXPERIMENT_ASIDE() of one that is shown only where it is asked for,
 * EXPERIMENT_EACH() of one that has each by itself, which is where every event is kept,
 * EXPERIMENT_EACH_BESIDE() where a thread may have several at the same time.
 */
#ifndef DWELL_COLLECT_EXPERIMENT_EXACT_H
#define DWELL_COLLECT_EXPERIMENT_EXACT_H

#include "collect/experiment.h"
#include "store/model.h"

#define EXPERIMENT_EXACT_INTERVALS                                                       \
	.unit = "count", .on = 1, .hi = 1, .lo = 1, .min = 1, .max = 1

#define EXPERIMENT_EXACT(NAME, UNIT, DESCRIPTION)                                        \
	{                                                                                \
		.name = NAME, .unit = UNIT, .description = DESCRIPTION,                  \
		.flags = EVENT_EXACT                                                     \
	}

#define EXPERIMENT_ASIDE(NAME, UNIT, DESCRIPTION)                                        \
	{                                                                                \
		.name = NAME, .unit = UNIT, .description = DESCRIPTION,                  \
		.flags = EVENT_EXACT | EVENT_ASIDE                                       \
	}

#define EXPERIMENT_EACH(NAME, DESCRIPTION)                                               \
	{                                                                                \
		.name = NAME, .unit = "ns", .description = DESCRIPTION,                  \
		.flags = EVENT_EXACT | EVENT_ASIDE | EVENT_EACH                          \
	}

#define EXPERIMENT_EACH_BESIDE(NAME, DESCRIPTION)                                        \
	{                                                                                \
		.name = NAME, .unit = "ns", .description = DESCRIPTION,                  \
		.flags = EVENT_EXACT | EVENT_ASIDE | EVENT_EACH | EVENT_BESIDE           \
	}

#endif
