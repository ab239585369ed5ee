/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_processes - the processes that are counted exactly now and then, and whose turn
 * it is.
 *
 * Those that are told to be, and what is forked by them.  Who appears and ends between
 * two looks is never seen here and costs nothing; looks come the less often the more
 * there is to look at.
 */
#ifndef DWELL_COLLECT_ANCHOR_PROCESSES_H
#define DWELL_COLLECT_ANCHOR_PROCESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/anchor_heirs.h"
#include "collect/anchor_process.h"

struct count_visits;

struct anchor_processes {
	const struct anchor_process_setting *setting; /* borrowed */
	VEC(struct anchor_process *) at;
	struct anchor_heirs heirs;
	uint64_t look_due_ns; /* wall time */
	uint64_t came_ns;     /* when the last one was added */
};

void anchor_processes_fini(struct anchor_processes *a);

/* One that runs already: what it did so far is not told. */
must_use int anchor_processes_add(struct anchor_processes *a, pid_t pid, struct err *e);
/* Lets go who is gone, and takes who is new; none that was lent before is there after
 * that but kept, unless NULL.  next: the number of the next window.  False: it is too
 * early to look again. */
bool anchor_processes_look(struct anchor_processes *a, const struct anchor_process *kept,
			   uint32_t next);
/* Who is to be counted now: by chance, who ran between the last two looks, the more the
 * more likely.  NULL: nobody. */
struct anchor_process *anchor_processes_choose(struct anchor_processes *a);
/* The places of which are to be watched now; NULL: nobody's. */
struct anchor_process *anchor_processes_turn(struct anchor_processes *a);
bool anchor_processes_are_watched(const struct anchor_processes *a);
void anchor_processes_tell_time(struct anchor_processes *a, uint32_t next);
/* While one is counted, others are not looked at. */
void anchor_processes_begin_unseen(struct anchor_processes *a,
				   const struct anchor_process *but, uint32_t next);
void anchor_processes_end_unseen(struct anchor_processes *a, uint32_t next);
/* Counters that take too much are off from now on. */
void anchor_processes_look_at_meters(struct anchor_processes *a, uint32_t next);
/* Who is kept by visits, of processes that have come to be known, too: by fork of one
 * that was being counted. */
void anchor_processes_hold(struct anchor_processes *a, const struct count_visits *v);
/* When they were in translation last: should one execute another program, and so run
 * natively, that is when its window ended. */
void anchor_processes_look_at_kept(struct anchor_processes *a,
				   const struct count_visits *v, uint32_t next);
void anchor_processes_tell(struct anchor_processes *a, uint32_t next);
/* What they do from now on, until they are resumed, is not told; nor is what those did
 * who were begun meanwhile. */
void anchor_processes_pause(struct anchor_processes *a, uint32_t next);
void anchor_processes_resume(struct anchor_processes *a, uint32_t next);
/* All of them are as they were, and their children; on failure the first that is not. */
must_use int anchor_processes_end(struct anchor_processes *a, uint32_t next,
				  struct err *e);

#endif
