/* SPDX-License-Identifier: Apache-2.0
 *
 * region_tree - the regions of one thread: which are active, and what each has cost in
 * its calling context.
 *
 * Arithmetic only: whoever uses it reads the clock, in any unit that grows, and has the
 * memory, which is all zero at first.  Time goes to the innermost active region as it
 * passes, so at any moment the tree is what it would be if all on the stack ended then.
 *
 * A region may be muted when it begins (its group is off, there is no room): it keeps
 * its place, so that its end is known, and its time is that of the one around it.
 */
#ifndef DWELL_INJECT_REGION_TREE_H
#define DWELL_INJECT_REGION_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REGION_TREE_DEPTH_MAX 8192
#define REGION_TREE_NODES_MAX 65536
#define REGION_TREE_SLOTS     (2 * REGION_TREE_NODES_MAX)
#define REGION_TREE_CLEAN     UINT32_MAX

/* A region in its context; node 0 is the thread outside of all. */
struct region_node {
	uint32_t parent, region;
	uint32_t last;	/* the child that was begun last, 0 none */
	uint32_t alike; /* the node of the same region that was made before, 0 none */
	uint32_t next_dirty; /* REGION_TREE_CLEAN: it is as it was told */
	bool is_nested;	     /* within the same region */
	uint64_t calls, subroutines;
	uint64_t exclusive; /* of a counter: its sum */
	uint64_t inclusive; /* of activations that have ended */
};

/* Where a function tells that it begins.  One that the compiler has put into another has
 * that one's frame and place of return. */
struct region_frame {
	uintptr_t place; /* on the stack, 0 not to be compared */
	uintptr_t back;	 /* where the function returns to */
	uintptr_t at;	 /* in its code */
};

struct region_activation {
	uint32_t node; /* of a muted one: of the one around it */
	uint32_t live; /* index of itself, or of the next outer one that is not muted */
	uint32_t region;
	uint32_t told; /* index of itself, or of the next outer one that has a frame */
	uint64_t start, exclusive;
	struct region_frame frame; /* that began it */
};

struct region_tree {
	uint64_t last; /* until then time has been given out */
	uint32_t depth, n_nodes;
	uint32_t first_dirty, last_dirty; /* REGION_TREE_CLEAN: none */
	uint64_t n_beyond;		  /* begun at the greatest depth, and active */
	uint64_t n_unmatched, n_cut, n_refused;
	struct region_activation active[REGION_TREE_DEPTH_MAX]; /* [0]: the thread */
	struct region_node nodes[REGION_TREE_NODES_MAX];
	uint32_t slots[REGION_TREE_SLOTS];  /* nodes by parent and region, 0 free */
	uint32_t newest[REGION_TREE_SLOTS]; /* the last one made of a region, by it */
};

void region_tree_init(struct region_tree *t, uint64_t now);
/* Give out the time until now. */
void region_tree_pass(struct region_tree *t, uint64_t now);
/* frame: NULL where it is not that of a function. */
void region_tree_begin(struct region_tree *t, uint32_t region, uint64_t now,
		       const struct region_frame *frame);
/* The clock need not be read.  region: 0 one that has no number. */
void region_tree_begin_muted(struct region_tree *t, uint32_t region,
			     const struct region_frame *frame);
/* Ends all inside of it, too; false: it was not active. */
bool region_tree_end(struct region_tree *t, uint32_t region, uint64_t now);
/* Of a function that returns there: of several of its activations that one, if it is
 * known which.  Those within were left by a jump. */
bool region_tree_return(struct region_tree *t, uint32_t region, uintptr_t back,
			uint64_t now);
/* Is it the region, or the function that returns there?  back 0: anywhere. */
static inline bool region_tree_is(const struct region_activation *a, uint32_t region,
				  uintptr_t back)
{
	return a->region == region && (!back || a->frame.back == back);
}
/* Does it end without a look at the clock, as it is muted?  back: as above, 0 of what is
 * no function.  One of the same region that is not muted may be what ends, and this one
 * have been left by a jump. */
static inline bool region_tree_ends_muted(const struct region_tree *t, uint32_t region,
					  uintptr_t back)
{
	const struct region_activation *a = &t->active[t->depth - 1];

	return a->live != t->depth - 1 && region_tree_is(a, region, back);
}
/* End those, from the innermost on, whose frames are gone where a function has this one:
 * an exit that nobody told.  What is within them and has no frame ends with them. */
void region_tree_unwind(struct region_tree *t, const struct region_frame *frame,
			uint64_t now);
/* Add to a counter within what is active. */
void region_tree_count(struct region_tree *t, uint32_t counter, uint64_t n);
/* In a forked child: what is active stays so, and has not been called. */
void region_tree_restart(struct region_tree *t, uint64_t now);

/* What a performance callstack tells of an active region. */
struct region_slice {
	uint32_t region, node;
	uint64_t calls, subroutines, exclusive, inclusive;
	uint64_t instance_exclusive, instance_inclusive;
};

/* Those that are active and not muted. */
uint32_t region_tree_n_slices(const struct region_tree *t);
/* Of those, leave out so many of the outermost and write at most max; returns how many.
 * Time has passed until now. */
uint32_t region_tree_slices(const struct region_tree *t, uint32_t skip,
			    struct region_slice *ret, uint32_t max);

/* The next node that has changed since it was taken so, the parent before the child;
 * REGION_TREE_CLEAN: none. */
uint32_t region_tree_take_dirty(struct region_tree *t);

#endif
