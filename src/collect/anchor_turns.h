/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_turns - what a few places were met in many short turns, and what that cost.
 *
 * A place that is watched makes the program slower each time that it is met, by how much
 * depends on the machine and on what else happens to it.  So places are watched one at a
 * time in some turns, and all at once in others: the more are watched, the slower all of
 * them seem to come, and from that the cost of one is told.
 */
#ifndef DWELL_COLLECT_ANCHOR_TURNS_H
#define DWELL_COLLECT_ANCHOR_TURNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

/* Of one place, between two windows. */
struct anchor_turns_sum {
	uint64_t addr;
	uint32_t window; /* the next */
	bool is_all;	 /* in turns with all places, else in those of its own */
	uint64_t hits, all_hits;
	uint64_t cpu_ns; /* with what was met */
};

struct anchor_turns {
	VEC(struct anchor_turns_sum) sums;
};

void anchor_turns_fini(struct anchor_turns *t);
void anchor_turns_clear(struct anchor_turns *t);
/* x: one turn's. */
void anchor_turns_add(struct anchor_turns *t, const struct anchor_turns_sum *x);
/* What meeting a place cost, by turns of both kinds; guess_ns where these are too few. */
double anchor_turns_hit_ns(const struct anchor_turns *t, double guess_ns);
/* Without what was met. */
uint64_t anchor_turns_native_ns(const struct anchor_turns_sum *x, double hit_ns);

#endif
