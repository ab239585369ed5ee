/* SPDX-License-Identifier: Apache-2.0
 *
 * recorder_source - a source of one recording (collect/source.h) made of a recorder.
 *
 * The operations of such a source; what it can feed is its own to say.  One thread.
 */
#ifndef DWELL_COLLECT_RECORDER_SOURCE_H
#define DWELL_COLLECT_RECORDER_SOURCE_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/recorder.h"
#include "collect/session.h"
#include "collect/source.h"
#include "host/cpus.h"

struct recorder_source {
	struct source base;
	const struct scope *scope; /* borrowed */
	struct plan plans[SESSION_EXPERIMENTS_MAX];
	size_t n_plans;
	struct cpus cpus;
	struct recorder *recorder;
};

/* Of the recorder's plans, which begin in the context's recording. */
must_use int recorder_source_open(const struct recorder_ops *ops,
				  const struct source_context *c, struct source **ret,
				  struct err *e);
must_use int recorder_source_start(struct source *source, pid_t pid, struct err *e);
size_t recorder_source_fds(const struct source *source, struct pollfd *fds, size_t max);
must_use int recorder_source_drain(struct source *source, bool is_final, struct err *e);
void recorder_source_sync(struct source *source);
void recorder_source_pause(struct source *source, bool is_paused);
void recorder_source_stop(struct source *source);
void recorder_source_status(const struct source *source, struct recorder_status *ret);
/* What ended or was met, and what was lost.  The recorder has told losses at its end. */
void recorder_source_finish(struct source *source, struct source_stats *ret);
void recorder_source_free(struct source *source);

/* The range of those that observe every event. */
void recorder_source_every(const struct experiment *x, uint64_t *ret_min,
			   uint64_t *ret_resolution);

/* In a struct source_ops: what is the same for all whose recorder sums in the kernel. */
#define RECORDER_SOURCE_OPS                                                              \
	.turn_at = SOURCE_SUMS, .start = recorder_source_start,                          \
	.fds = recorder_source_fds, .drain = recorder_source_drain,                      \
	.sync = recorder_source_sync, .pause = recorder_source_pause,                    \
	.stop = recorder_source_stop, .free = recorder_source_free

#endif
