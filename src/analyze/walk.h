/* SPDX-License-Identifier: Apache-2.0
 *
 * walk - the stacks of a source that carry weight, depth first.
 *
 *	struct walk w = walk_over(source);
 *	for (enum walk_step s; (s = walk_next(&w)) != WALK_END;)
 *		...w.stack is entered or left...
 *
 * Begins by entering the empty stack (id 0) and ends by leaving it.  A walk over a part
 * of the order begins below the stack it starts at, as if all above were entered before,
 * and ends by leaving those too.
 */
#ifndef DWELL_ANALYZE_WALK_H
#define DWELL_ANALYZE_WALK_H

#include "analyze/input.h"

enum walk_step { WALK_END, WALK_ENTER, WALK_LEAVE };

struct walk {
	const struct input *source;
	uint32_t stack;
	size_t next, end; /* in the order */
	bool is_left;
};

static inline struct walk walk_over_part(const struct input *s, size_t from, size_t end)
{
	uint32_t above = from < end ? s->stacks[s->order[from]].parent : 0;

	return (struct walk){ .source = s, .stack = above, .next = from, .end = end };
}

static inline struct walk walk_over(const struct input *s)
{
	return walk_over_part(s, 0, s->n_ordered);
}

/* The order is known, so what a stack needs is asked for some stacks ahead.  Always
 * inline, as a call without effects but prefetching is dropped by the compiler. */
static inline __attribute__((always_inline)) void walk_prefetch(const struct input *s,
								size_t next)
{
	enum { AHEAD = 12 };

	if (next + 2 * AHEAD < s->n_ordered) {
		__builtin_prefetch(&s->stacks[s->order[next + 2 * AHEAD]]);
		__builtin_prefetch(&s->slot_of_stack[s->order[next + 2 * AHEAD]]);

		uint32_t near = s->order[next + AHEAD];

		__builtin_prefetch(&s->first_frame[s->stacks[near].location]);
		__builtin_prefetch(&s->n_frames[s->stacks[near].location]);
		__builtin_prefetch(input_weights(s, near));
	}
}

static inline enum walk_step walk_next(struct walk *w)
{
	const struct input *s = w->source;

	if (w->is_left) {
		if (w->stack == 0)
			return WALK_END;
		w->stack = s->stacks[w->stack].parent;
		w->is_left = false;
	}
	if (w->next < w->end &&
	    (w->next == 0 || s->stacks[s->order[w->next]].parent == w->stack)) {
		w->stack = s->order[w->next];
		walk_prefetch(s, w->next++);
		return WALK_ENTER;
	}
	if (!w->end)
		return WALK_END;
	w->is_left = true;
	return WALK_LEAVE;
}

#endif
