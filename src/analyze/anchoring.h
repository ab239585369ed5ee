/* SPDX-License-Identifier: Apache-2.0
 *
 * anchoring - how often blocks were executed in all, by what was counted exactly now and
 * then.
 *
 * In windows of time a block was executed so often for each time that a watched place
 * was; and in the native time between them that place was met so often in all.  Of
 * several places a function takes the one with which its own counts go up and down best
 * from window to window.  How far that is off is told by how much windows differ, and the
 * turns in which places were watched.
 *
 * Processes that run the same program are one in this, in one recording or in several:
 * windows of some stand for all.
 */
#ifndef DWELL_ANALYZE_ANCHORING_H
#define DWELL_ANALYZE_ANCHORING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct anchoring;
struct procedure;
struct profile;

struct anchoring_block {
	double times; /* 0: it was executed in no window */
	double off;   /* so far in 19 of 20 cases at most: a logarithm */
};

#define ANCHORING_UNSEEN 0.7 /* what no window saw: a logarithm */

/* Of what leaves a block by a branch or an indirect jump, the part that goes this way. */
struct anchoring_way {
	bool is_told;
	double share;
	double off; /* as a block's, beside that of the block; ANCHORING_UNSEEN at most */
};

/* Of all recordings with CPU time together; *ret is NULL when they have no windows, or
 * for no program of all that was sampled. */
must_use int anchoring_new(const struct profile *p, struct anchoring **ret,
			   struct err *e);
/* In all recordings, whatever these tell. */
uint32_t anchoring_n_windows(const struct profile *p);
/* Whether any of them was to have windows, be it that there were none. */
bool anchoring_was_tried(const struct profile *p);
/* Why a process could not be counted now and then, the first of them, or NULL. */
const char *anchoring_refusal(const struct profile *p);
void anchoring_free(struct anchoring *a);
void anchoring_freep(struct anchoring **a);

/* Of each block of a procedure, and each way, whose image is at delta from offsets to
 * addresses.  How many windows tell that, 0: too little of it was executed in windows. */
uint32_t anchoring_find(const struct anchoring *a, uint32_t sym_image, uint64_t delta,
			const struct procedure *p, struct anchoring_block *ret_blocks,
			struct anchoring_way *ret_ways);

#endif
