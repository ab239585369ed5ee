/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment.h"
#include "store/model.h"

extern const struct experiment experiment_sync;

#define COLUMN(NAME, UNIT, FLAGS, DESCRIPTION)                                           \
	{                                                                                \
		.name = NAME, .unit = UNIT, .description = DESCRIPTION,                  \
		.flags = EVENT_EXACT | (FLAGS)                                           \
	}

const struct experiment experiment_sync = {
	.name = "sync",
	.summary = "waits of threads for each other: which lock, who waits, who held it",
	.trigger = EXPERIMENT_SYNC,
	.only_source = "tracer",
	.beside = "futex",
	.unit = "count",
	.on = 1,
	.hi = 1,
	.lo = 1,
	.min = 1,
	.max = 1,
	.n_events = EXPERIMENT_SYNC_N_EVENTS,
	.events = {
		[EXPERIMENT_SYNC_LOCK_TIME] = COLUMN(
			"lock-wait-time", "ns", 0, "time waiting for locks that others held"),
		[EXPERIMENT_SYNC_LOCK_WAITS] = COLUMN(
			"lock-waits", "count", 0, "waits for locks that others held"),
		[EXPERIMENT_SYNC_TIME] = COLUMN(
			"sync-wait-time", "ns", 0,
			"time waiting for conditions, semaphores, barriers and ends of threads"),
		[EXPERIMENT_SYNC_WAITS] = COLUMN(
			"sync-waits", "count", 0,
			"waits for conditions, semaphores, barriers and ends of threads"),
		[EXPERIMENT_SYNC_HOLDERS] = COLUMN(
			"holder-time", "ns", EVENT_ASIDE,
			"time of waits by who let it pass: the holder of the lock, or who woke"),
		[EXPERIMENT_SYNC_DURATIONS] = COLUMN(
			"wait-durations", "count", EVENT_ASIDE,
			"waits by the time that each took"),
	},
};
