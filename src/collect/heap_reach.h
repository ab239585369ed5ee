/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_reach - which blocks of a process something still points to, directly or by other
 * blocks.
 *
 * Words at multiples of their size count as pointers, whatever they are.  Work is done in
 * pieces, as it takes some time for a large heap.
 */
#ifndef DWELL_COLLECT_HEAP_REACH_H
#define DWELL_COLLECT_HEAP_REACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/heap_finder.h"
#include "collect/heap_roots.h"
#include "collect/heap_vtables.h"

/* As valgrind's memcheck has them. */
enum heap_reach_state {
	HEAP_REACH_LOST,       /* nothing points to it, but maybe what is lost with it */
	HEAP_REACH_INDIRECTLY, /* only blocks that are lost do */
	HEAP_REACH_POSSIBLY,   /* to a place within it, on some step of every way there */
	HEAP_REACH_REACHED,
	HEAP_REACH_N_STATES,
};

/* Does it begin with a pointer to a table of functions? */
enum heap_reach_object {
	HEAP_REACH_UNASKED,
	HEAP_REACH_OBJECT,
	HEAP_REACH_NO_OBJECT,
};

/* What points: a root or what it leads to; or a block to which nothing leads. */
struct heap_reach_origin {
	enum heap_reach_state state;
	size_t leader; /* that block, of HEAP_REACH_INDIRECTLY */
};

/* Up to where from an address on there are only zeroes. */
typedef uint64_t heap_reach_skip_fn(void *ctx, uint64_t address, uint64_t end);

struct heap_reach {
	const struct heap_finder *finder; /* borrowed, as are these: */
	const struct heap_ranges *roots;
	heap_roots_read_fn *read; /* false: not all of it is readable */
	heap_reach_skip_fn *skip;
	void *ctx;
	struct heap_vtables *tables;
	uint8_t *states;  /* by block: enum heap_reach_state */
	uint8_t *objects; /* by block: enum heap_reach_object */
	VEC(uint32_t) pending;
	size_t root, leader;	/* the next ones */
	uint64_t root_at;	/* how far that root was read, 0: not at all */
	struct heap_range rest; /* of the last block, and what it leads to is: */
	struct heap_reach_origin rest_of;
	uint8_t *piece;
};

void heap_reach_begin(struct heap_reach *r, const struct heap_finder *finder,
		      const struct heap_ranges *roots, struct heap_vtables *tables,
		      heap_roots_read_fn *read, heap_reach_skip_fn *skip, void *ctx);
void heap_reach_fini(struct heap_reach *r);
/* What these lead to, that are in no memory, is reached. */
void heap_reach_follow(struct heap_reach *r, const uint64_t *words, size_t n);
/* Some of it, up to about a millisecond; false: all is done. */
bool heap_reach_go_on(struct heap_reach *r);

#endif
