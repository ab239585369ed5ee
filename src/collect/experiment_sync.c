/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/experiment_exact.h"

extern const struct experiment experiment_sync;

const struct experiment experiment_sync = {
	.name = "sync",
	.summary = "waits of threads for each other: which lock, who waits, who held it",
	.trigger = EXPERIMENT_SYNC,
	.only_source = "tracer",
	.beside = "futex",
	EXPERIMENT_EXACT_INTERVALS,
	.n_events = EXPERIMENT_SYNC_N_EVENTS,
	.events = {
		[EXPERIMENT_SYNC_LOCK_TIME] = EXPERIMENT_EXACT("lock-wait-time", "ns",
			"time waiting for locks that others held"),
		[EXPERIMENT_SYNC_LOCK_WAITS] = EXPERIMENT_EXACT("lock-waits", "count",
			"waits for locks that others held"),
		[EXPERIMENT_SYNC_TIME] = EXPERIMENT_EXACT("sync-wait-time", "ns",
			"time waiting for conditions, semaphores, barriers and ends of "
			"threads"),
		[EXPERIMENT_SYNC_WAITS] = EXPERIMENT_EXACT("sync-waits", "count",
			"waits for conditions, semaphores, barriers and ends of threads"),
		[EXPERIMENT_SYNC_HOLDERS] = EXPERIMENT_ASIDE("holder-time", "ns",
			"time of waits by who let it pass: the holder of the lock, or "
			"who woke"),
		[EXPERIMENT_SYNC_DURATIONS] = EXPERIMENT_ASIDE("wait-durations", "count",
			"waits by the time that each took"),
		[EXPERIMENT_SYNC_UNFINISHED] = EXPERIMENT_ASIDE("unfinished-wait-time",
			"ns", "time so far of each wait that had not ended when its "
			"thread or the recording did"),
		[EXPERIMENT_SYNC_EACH_LOCK] = EXPERIMENT_EACH("each-lock-wait",
			"each wait for a lock by itself, where every event is kept "
			"(--trace)"),
		[EXPERIMENT_SYNC_EACH] = EXPERIMENT_EACH("each-sync-wait",
			"each other wait by itself, where every event is kept "
			"(--trace)"),
	},
};
