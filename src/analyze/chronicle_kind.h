/* SPDX-License-Identifier: Apache-2.0
 *
 * chronicle_kind - what a thread may do in a moment, by the events that tell it.
 *
 * Where the states of threads are recorded they say it all.  Otherwise CPU time and what
 * was waited do, of which calls that were traced tell more; regions, less what was waited
 * in them, stand for CPU time where there is none.
 */
#ifndef DWELL_ANALYZE_CHRONICLE_KIND_H
#define DWELL_ANALYZE_CHRONICLE_KIND_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/profile.h"

enum chronicle_kind {
	CHRONICLE_RUN, /* in a function */
	CHRONICLE_READY,
	CHRONICLE_LOCK,
	CHRONICLE_SYNC,
	CHRONICLE_IO,
	CHRONICLE_FAULT,
	CHRONICLE_CALL, /* a system call, whichever it is */
	CHRONICLE_STOPPED,
	CHRONICLE_ASLEEP,
	CHRONICLE_BLOCKED, /* it is not known by what */
	CHRONICLE_N_KINDS,
	CHRONICLE_NONE = CHRONICLE_N_KINDS,
};

/* In JSON, and in words: "lock", "waits for a lock". */
const char *chronicle_kind_name(enum chronicle_kind kind);
const char *chronicle_kind_text(enum chronicle_kind kind);

/* By column of the profile, one of them a recording's; freed by the caller. */
enum chronicle_kind *chronicle_kind_of_columns(const struct profile *p, size_t source);

/* Running is told by regions, in which threads wait, too. */
bool chronicle_kind_runs_in_regions(const struct profile *p,
				    const enum chronicle_kind *of_columns);

/* Takes from what is known less of what is known better: ns are by kind. */
void chronicle_kind_refine(double *ns, bool runs_in_regions);

#endif
