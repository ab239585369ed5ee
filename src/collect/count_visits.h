/* SPDX-License-Identifier: Apache-2.0
 *
 * count_visits - running processes that the counting engine came to, with the children
 * that they have by fork meanwhile, until it leaves them all.
 */
#ifndef DWELL_COLLECT_COUNT_VISITS_H
#define DWELL_COLLECT_COUNT_VISITS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/count_attach.h"
#include "collect/count_resting.h"
#include "host/newcomers.h"

struct count_visits {
	VEC(struct count_attached) at;
	struct newcomers begun; /* before the engine came to the first */
	uint64_t n_confined;	/* left before they forbade themselves calls */
	pid_t first;
	VEC(struct count_attached) kept; /* which the engine could not leave ... */
	uint64_t n_kept;		 /* ... as many ... */
	struct err why_kept;		 /* ... the first of them */
	const struct count_look *look;	 /* at the first one; NULL: nobody does */
	bool lets_rest;			 /* the first one's engine, until all ends */
	struct count_resting resting;
};

void count_visits_fini(struct count_visits *v);

/* The process counts into the directory from now on, by flags of wire/count_flags.h. */
must_use int count_visits_begin(struct count_visits *v, pid_t pid,
				const struct count_directory *d, const char *flags,
				struct err *e);
/* By fork, perhaps of one of them: then the engine is there as well. */
void count_visits_child(struct count_visits *v, uint32_t pid, uint32_t parent);
/* Some wait to be left before they forbid themselves system calls. */
bool count_visits_are_awaited(const struct count_visits *v);
/* These alone. */
void count_visits_leave_awaited(struct count_visits *v);
/* Those too that have not told that they are there. */
void count_visits_end(struct count_visits *v);
/* The engine could not leave it, and may be tried to leave it again. */
bool count_visits_keep(const struct count_visits *v, pid_t pid);
void count_visits_end_kept(struct count_visits *v);

#endif
