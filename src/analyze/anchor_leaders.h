/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_leaders - what is known of some places both in windows of exact counts and in
 * all of the native time between them; and of that time itself.
 *
 * What goes up and down with one of these from window to window is as often in all as
 * that is.
 */
#ifndef DWELL_ANALYZE_ANCHOR_LEADERS_H
#define DWELL_ANALYZE_ANCHOR_LEADERS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/anchor_rows.h"
#include "base/vec.h"

/* Windows are put together until there are no more than so many. */
#define ANCHOR_LEADERS_GROUPS 64

/* In one window, near it, and between the one before and it. */
struct anchor_leader_window {
	double met, near_hits, near_ns, hits, watched_ns;
	bool is_unbiased; /* by having chosen the place */
};

struct anchor_leader {
	struct anchor_leader_window *windows; /* and one behind the last; NULL: time */
	double hits, cpu_ns;
	double natively;		       /* in all, as far as that can be told */
	double variance;		       /* of that, relative; INFINITY: unusable */
	double counted[ANCHOR_LEADERS_GROUPS]; /* in windows, by what these stand for */
	double all_counted;
	double met;	  /* in windows */
	double say;	  /* in what a window stands for; by its hits there */
	bool is_own_time; /* of one function: with it, nothing goes as all of the time */
};

struct anchor_leaders {
	VEC(struct anchor_leader) at; /* of each place; the last: time */
	uint32_t n_windows, n_groups;
	bool is_weighed;  /* it is known what windows stand for: there is time ... */
	bool is_supposed; /* ... or supposed, as there is no place */
	bool are_several; /* processes: a place was not watched in all of them */
};

/* Fills one that is all zeros, and says in the rows what each window stands for. */
void anchor_leaders_make(struct anchor_leaders *ret, struct anchor_rows *rows,
			 bool are_several);
void anchor_leaders_fini(struct anchor_leaders *l);

static inline uint32_t anchor_leaders_group(const struct anchor_leaders *l,
					    uint32_t window)
{
	return (uint32_t)((uint64_t)window * l->n_groups / l->n_windows);
}

/* NULL: windows stand for none. */
static inline const struct anchor_leader *
anchor_leaders_time(const struct anchor_leaders *l)
{
	return l->is_weighed ? &l->at.at[l->at.n - 1] : NULL;
}

#endif
