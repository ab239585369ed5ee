/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_watching - the places of a process at which the CPU stops for a moment now and
 * then (collect/anchor_watch), and what is known by that.
 *
 * One place at a time, and all of them after these (collect/anchor_turns).
 */
#ifndef DWELL_COLLECT_ANCHOR_WATCHING_H
#define DWELL_COLLECT_ANCHOR_WATCHING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/anchor_budget.h"
#include "collect/anchor_choice.h"
#include "collect/anchor_turns.h"
#include "collect/anchor_watch.h"

/* Of the budget, where places are watched. */
#define ANCHOR_WATCHING_PART 0.4

struct anchor_record;

struct anchor_watching {
	struct anchor_watch watch;
	struct anchor_turns turns;
	uint64_t leaders[ANCHOR_CHOICE_MAX];
	size_t n_leaders, n_turns, first_watched, n_watched;
	uint64_t due_ns;   /* of the process's CPU time: the next turn */
	uint64_t watch_ns; /* how long it is */
	uint64_t hit_ns;   /* what meeting a place costs, before any was met; set
			    * with leaders */
};

/* Without a place. */
struct anchor_watching anchor_watching_of(void);
void anchor_watching_fini(struct anchor_watching *w);

/* cpu_ns: of the process.  False: it has ended, or somebody else has its breakpoints. */
bool anchor_watching_begin(struct anchor_watching *w, pid_t pid, uint64_t cpu_ns,
			   struct anchor_budget *b);
/* next: the number of the next window. */
void anchor_watching_end(struct anchor_watching *w, uint32_t next, uint64_t cpu_ns,
			 struct anchor_budget *b);
/* All at once, when as much as can be is known of what it cost. */
void anchor_watching_tell(struct anchor_watching *w, struct anchor_record *r);

#endif
