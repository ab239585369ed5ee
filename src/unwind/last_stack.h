/* SPDX-License-Identifier: Apache-2.0
 *
 * last_stack - the frames of a thread's previous stack, to be verified, not unwound.
 *
 * Where a frame's caller is found is a function of its sp, pc and frame pointer and of
 * the words read on the way.  So once a new walk arrives at a frame it knows, in the
 * same state, the callers follow by checking that those words are unchanged:
 * independent loads instead of a chain of dependent ones.  Exact, and nothing of the
 * program is patched.
 *
 * Frames are kept outermost first, so that a changed top is replaced in place.
 * Freestanding; one thread.  Zeroed memory is a valid empty one.
 */
#ifndef DWELL_UNWIND_LAST_STACK_H
#define DWELL_UNWIND_LAST_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/stack_memory.h"

#define LAST_STACK_MAX 1024

/* A frame, and where the step from its callee read what it is. */
struct last_frame {
	uint64_t sp, pc, fp;
	uint64_t pc_slot;  /* 0: not reached by a plain step, cannot be verified */
	uint64_t fp_slot;  /* 0: the callee did not save it */
	uint64_t cfa_slot; /* 0: sp was computed, not read */
};

struct last_stack {
	uint32_t n;
	uint32_t n_fresh;
	uint32_t n_unchanged; /* outermost frames that the last walk shares with this */
	bool is_complete;     /* frame[0] is the outermost by its rule */
	struct last_frame frame[LAST_STACK_MAX];
	struct last_frame
		fresh[LAST_STACK_MAX]; /* of the walk under way, innermost first */
};

/* Where in the kept frames a walk under way may match; from the innermost. */
static inline size_t last_stack_begin(struct last_stack *l)
{
	l->n_fresh = 0;
	return l->n;
}

/* The walk arrived at a frame: remember it. */
static inline void last_stack_push(struct last_stack *l, const struct last_frame *f)
{
	l->fresh[l->n_fresh++] = *f;
}

/* Is the frame a kept one?  *cursor moves outwards; on true it is the frame's index. */
static inline bool last_stack_match(const struct last_stack *l,
				    const struct last_frame *f, size_t *cursor)
{
	size_t i = *cursor;

	while (i && l->frame[i - 1].sp < f->sp)
		i--;
	*cursor = i;
	if (!i || l->frame[i - 1].sp != f->sp || l->frame[i - 1].pc != f->pc ||
	    l->frame[i - 1].fp != f->fp)
		return false;
	*cursor = i - 1;
	return true;
}

/* Frames outside frame[from] that still hold: returns the index of the outermost one,
 * from itself when there is none.  At most limit frames are verified. */
size_t last_stack_verify(const struct last_stack *l, size_t from, size_t limit,
			 const struct stack_memory *m, uint64_t pc_mask);

/* The walk goes on from the kept frame `to`; those from `from` on become fresh. */
void last_stack_take(struct last_stack *l, size_t from, size_t to);

/* The walk is done: what is fresh stands on the n_kept outermost kept frames. */
void last_stack_commit(struct last_stack *l, size_t n_kept, bool is_complete);

#endif
