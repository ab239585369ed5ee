/* SPDX-License-Identifier: Apache-2.0
 *
 * count_live - a file of counts that is read again and again, while its process goes on:
 * each time only what is new in its tables, and how often what was executed since was.
 *
 * What blocks and ways have to do with each other is kept, so that the time it takes is
 * that of what is new and of what was executed, however much is known.
 */
#ifndef DWELL_COLLECT_COUNT_LIVE_H
#define DWELL_COLLECT_COUNT_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/count_forest.h"
#include "collect/count_reader.h"
#include "collect/count_window.h"
#include "wire/count_file.h"

#define COUNT_LIVE_NO_IMAGE UINT32_MAX /* a block's, if it is in none that is known */

/* Parts, as count_forest has them; 0: outside, or none. */
struct count_live_spot {
	uint32_t start, behind, on, to;
};

/* Since the last reading; else all is 0. */
struct count_live_flow {
	int64_t n;  /* begun */
	int64_t to; /* gone to the target */
};

struct count_live_user {
	uint32_t what; /* number and kind */
	uint32_t next; /* of the same counter; 0: none */
};

struct count_live_pair {
	uint32_t pair;
	uint64_t times;
};

struct count_live {
	struct count_file_base
		there; /* what is known of which file; no blocks: nothing */
	uint32_t pid;
	/* Number 0 is no block. */
	VEC(struct count_file_block) blocks;
	VEC(struct count_file_pair) pairs;
	VEC(struct count_reader_image) images;
	VEC(struct count_live_flow) flows; /* by block */
	VEC(uint32_t) executed;		   /* blocks, in order */
	VEC(struct count_live_pair) taken; /* pairs */
	struct count_reader tables;	   /* what the reader is to know */
	VEC(void *) paths;
	struct map part_at; /* by place */
	VEC(struct count_live_spot) spots;
	VEC(uint32_t) targets; /* parts, by pair */
	VEC(uint32_t) returns; /* blocks */
	VEC(struct count_live_user) users;
	VEC(uint32_t) users_of; /* a counter: the first; 0: none */
	VEC(uint64_t) marks;	/* a bit for each block that something is told of */
	struct count_forest forest;
};

/* Knows nothing, and is zero-initialised.  What is known is forgotten. */
void count_live_fini(struct count_live *l);
/* Another file, or a process that was killed while it wrote, begins anew; after a failure
 * nothing is known. */
must_use int count_live_read(struct count_live *l, const struct count_window *w,
			     struct err *e);

#endif
