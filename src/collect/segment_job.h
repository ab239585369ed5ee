/* SPDX-License-Identifier: Apache-2.0
 *
 * segment_job - makes segments of a database out of closed recordings, in a thread of
 * its own: that takes seconds, in which samples go on.
 *
 * Closed recordings wait in the host's directory under names that tell their time; what
 * fails stays there for the next time, also for the next daemon.
 */
#ifndef DWELL_COLLECT_SEGMENT_JOB_H
#define DWELL_COLLECT_SEGMENT_JOB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "store/database_writer.h"

struct segment_job;

struct segment_job *segment_job_new(struct database_writer *w,
				    const struct database_retention *retention);
void segment_job_free(struct segment_job *j); /* waits */
void segment_job_freep(struct segment_job **j);

/* A recording that was closed, by its path: it waits from now on. */
must_use int segment_job_put(struct segment_job *j, const char *path, int64_t from_s,
			     int64_t to_s, struct err *e);
/* Work on all that waits; then merge and remove what is due.  Nothing when a thread is at
 * it already.  Nobody else may use the database's writer until it has ended. */
must_use int segment_job_start(struct segment_job *j, struct err *e);
/* Has it ended?  Then how. */
bool segment_job_poll(struct segment_job *j, int *ret_rc, struct err *e);
/* Until it has ended. */
must_use int segment_job_wait(struct segment_job *j, struct err *e);

uint64_t segment_job_n_segments(const struct segment_job *j);

#endif
