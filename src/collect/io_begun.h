/* SPDX-License-Identifier: Apache-2.0
 *
 * io_begun - calls of one program image that have begun and not returned, so far as
 * known.
 *
 * Those of a thread are one inside the other: a handler makes the inner ones, and is
 * further in on the stack.  Whoever makes a call less far in has left those by a jump, so
 * they are forgotten.  Zero-initialise, release with io_begun_fini().
 */
#ifndef DWELL_COLLECT_IO_BEGUN_H
#define DWELL_COLLECT_IO_BEGUN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"
#include "collect/io_ledger.h"

/* What a target may have us keep. */
#define IO_BEGUN_DEPTH_MAX 64
#define IO_BEGUN_MAX	   (1 << 18)

struct io_begun_call {
	uint32_t thread;
	uint32_t depth;	   /* how many are around it; set here */
	uint64_t around;   /* place of the next one plus 1, 0: none; set here */
	uint64_t frame;	   /* of who makes it: lower is further in */
	uint64_t since_ns; /* observed time, without pauses */
	struct io_call call;
	bool is_there; /* set here; else its place is free, around tells the next free */
};

struct io_begun {
	struct map innermost; /* by thread → place plus 1 */
	VEC(struct io_begun_call) places;
	uint64_t free; /* a place plus 1, 0: none */
	size_t n;
};

void io_begun_fini(struct io_begun *b);
/* Those of the thread that are not further out are forgotten before.  False: there are
 * too many. */
bool io_begun_add(struct io_begun *b, const struct io_begun_call *call);
/* Forget those of the thread that are at that frame or further in. */
void io_begun_end(struct io_begun *b, uint32_t thread, uint64_t frame);
/* Is it the thread's innermost? */
bool io_begun_is_innermost(const struct io_begun *b, const struct io_begun_call *call);

#endif
