/* SPDX-License-Identifier: Apache-2.0
 *
 * block_counts - how often each piece of code of each file was executed.
 *
 * Of one recording's basic blocks, all processes together, in link-time addresses; or
 * estimated from samples of CPU time.  What cannot be told, as there is no file to tell
 * it of, is counted.  Borrows from the profile.
 */
#ifndef DWELL_ANALYZE_BLOCK_COUNTS_H
#define DWELL_ANALYZE_BLOCK_COUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/block_tiles.h"
#include "analyze/profile.h"

/* A conditional branch. */
struct block_counts_branch {
	uint64_t address;
	double taken;	 /* of 1, estimated */
	uint64_t n_seen; /* passages, as samples tell */
};

/* A file that was executed. */
struct block_counts_image {
	const char *path; /* as the program saw it */
	uint32_t image;	  /* the symbolizer's */
	/* Where its code is, by address: one piece at least. */
	struct sym_range *text;
	size_t n_text;
	struct block_tiles tiles; /* from the first piece's start to the last one's end */
	/* Of the same pieces, between which numbers it is; empty where they were counted.
	 */
	struct block_tiles low, high;
	/* Of functions with samples, by address; none where they were counted. */
	VEC(struct block_counts_branch) branches;
};

struct block_counts_left {
	const char *path, *why;
	uint64_t n; /* instructions executed, UINT64_MAX: so many, or more; where it is
		     * estimated, samples */
};

struct block_counts {
	VEC(struct block_counts_image) images; /* by path */
	VEC(struct block_counts_left) left_out;
};

must_use int block_counts_make(struct block_counts *ret, const struct profile *p,
			       size_t source, struct err *e);
/* CPU time was sampled, so that there is something to estimate from. */
bool block_counts_may_estimate(const struct profile *p);
/* Of all samples of CPU time; takes long: every function that has some is looked at.
 * Pieces without any have 0 times, whether they were executed or not. */
must_use int block_counts_estimate(struct block_counts *ret, const struct profile *p,
				   struct err *e);
void block_counts_fini(struct block_counts *c);

#endif
