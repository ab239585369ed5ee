/* SPDX-License-Identifier: Apache-2.0
 *
 * segment_job - has segments of a database made out of closed recordings, by a process
 * of its own: that takes seconds, in which samples go on, and memory that is gone with
 * it.
 *
 * Closed recordings wait in the host's directory under names that tell their time; what
 * fails stays there for the next time, also for the next daemon.  The process is this
 * program again (segment_maker.h); one that is killed is started again, some times.
 */
#ifndef DWELL_COLLECT_SEGMENT_JOB_H
#define DWELL_COLLECT_SEGMENT_JOB_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "store/database_writer.h"

struct segment_job;

struct segment_job_settings {
	const char *command;	     /* of this program, borrowed */
	const char *database, *host; /* borrowed */
	int lock;		     /* of the database's writer */
	struct database_retention retention;
};

struct segment_job *segment_job_new(const struct segment_job_settings *settings);
void segment_job_free(struct segment_job *j); /* what it is at is left for the next one */
void segment_job_freep(struct segment_job **j);

struct segment_job_span {
	int64_t from_s, to_s; /* since 1970, from_s < to_s */
};

/* Of what was taken for so long, suspended times counted, until now by the clock that
 * people read.  Where that was set meanwhile, its newest time is the one that counts: so
 * a span is as long as it was, and ends when it did. */
struct segment_job_span segment_job_span(uint64_t now_ns, uint64_t lasted_ns);

/* A recording that was closed, by its path: it waits in the directory from now on. */
must_use int segment_job_put(const char *directory, const char *path, int64_t from_s,
			     int64_t to_s, struct err *e);
/* Work on all that waits; then merge and remove what is due.  Nothing when a process is
 * at it already.  Until it has ended the database is its alone.  Merging, and all unless
 * it is urgent, takes what others leave of the CPUs. */
must_use int segment_job_start(struct segment_job *j, bool is_urgent, struct err *e);
/* The process that is at it; 0: none is. */
pid_t segment_job_pid(const struct segment_job *j);
/* Readable when it may have ended; -1: it is not running. */
int segment_job_fd(const struct segment_job *j);
/* All that waited is in the database: what goes on is merging. */
bool segment_job_has_added(struct segment_job *j);
/* Somebody waits for it now: it takes no less of the CPUs than others. */
void segment_job_hurry(struct segment_job *j);
/* Does it still do something: has it taken time of a CPU since it was asked last? */
bool segment_job_is_busy(struct segment_job *j);
/* Nobody is at it any more; what it was at is done the next time.  The database is the
 * daemon's. */
void segment_job_interrupt(struct segment_job *j);
/* Has it ended?  Then how. */
bool segment_job_poll(struct segment_job *j, int *ret_rc, struct err *e);

struct segment_job_counts {
	uint64_t segments; /* made */
	/* Processes; ended: by the daemon, before they had added what waited. */
	uint64_t started, failed, killed, ended;
};

const struct segment_job_counts *segment_job_counts(const struct segment_job *j);

#endif
