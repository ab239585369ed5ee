/* SPDX-License-Identifier: Apache-2.0
 *
 * sync_rows - the waits of a profile, in rows by lock, waiting stack, holder or thread.
 *
 * Stacks of the experiment sync end in a label of what kind of thing was waited for and,
 * but for the end of a thread, in which; those of holders go on with a label and the
 * holder's frames, those of durations with a label of the step.  Locks, which somebody
 * else holds, and what it is no fault to wait for are never summed up together.  Where
 * only the functions in which a thread waits tell that it is for a lock, the wait was
 * recorded as the others are, and is a lock's here.  Borrows the profile.
 */
#ifndef DWELL_ANALYZE_SYNC_ROWS_H
#define DWELL_ANALYZE_SYNC_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/power_steps.h"
#include "analyze/profile.h"
#include "base/map.h"
#include "base/vec.h"

enum sync_rows_by {
	SYNC_ROWS_BY_LOCK,
	SYNC_ROWS_BY_STACK,
	SYNC_ROWS_BY_HOLDER,
	SYNC_ROWS_BY_THREAD,
	SYNC_ROWS_N_BYS,
};

struct sync_sums {
	uint64_t n, ns;		  /* waits and their time */
	struct power_steps steps; /* ns that each took */
};

/* A stack that has a part in a row. */
struct sync_path {
	uint64_t key;
	uint32_t *frames; /* functions, the innermost first */
	size_t n_frames;
	uint64_t n, ns;
};

typedef VEC(struct sync_path) sync_paths;

struct sync_row {
	char *name;
	char *what; /* "mutex"; of a row of several kinds the first */
	bool is_lock;
	bool has_name; /* false: the name is an address */
	struct sync_sums sums;
	sync_paths waiters, holders; /* those with most time first */
};

/* One that had not ended when its thread did, or the recording. */
struct sync_unfinished {
	char *thread; /* "name (tid)" */
	char *name, *what;
	char *holder; /* who had it when the wait began: "thread 17"; NULL: unknown */
	uint32_t pid, tid;
	bool is_lock;
	uint64_t n; /* more than 1: threads are not told apart */
	/* So far; since the recording began, UINT64_MAX: before, or not known. */
	uint64_t ns, since_ns;
	struct sync_path path;
};

struct sync_rows {
	VEC(struct sync_row) rows;
	struct sync_row locks, others; /* totals */
	/* Of locks first, the longest first. */
	VEC(struct sync_unfinished) unfinished;
	uint64_t *totals; /* by the profile's columns, as these rows have it */
	bool has_sync;	  /* the recordings have it at all */
};

/* What was too short to be told, of all recordings. */
struct sync_short {
	uint64_t n, ns;
	uint64_t threshold_ns; /* the largest of all processes */
};

/* What of waits was not observed, in the words of who recorded. */
enum sync_rows_note {
	SYNC_ROWS_UNSEEN,    /* why not what the kernel alone sees */
	SYNC_ROWS_WRAPPED,   /* which calls of a running process, where not all are */
	SYNC_ROWS_UNWRAPPED, /* why none of a process' */
};

must_use int sync_rows_make(const struct profile *p, enum sync_rows_by by,
			    struct sync_rows *ret, struct err *e);
void sync_rows_fini(struct sync_rows *r);
struct sync_short sync_rows_short(const struct profile *p);
/* As the first recording has it that does; NULL: none does. */
const char *sync_rows_note(const struct profile *p, enum sync_rows_note note);

#endif
