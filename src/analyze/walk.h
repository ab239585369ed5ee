/* SPDX-License-Identifier: Apache-2.0
 *
 * walk - the stacks of a source that carry weight, depth first.
 *
 *	struct walk w = walk_over(source);
 *	for (enum walk_step s; (s = walk_next(&w)) != WALK_END;)
 *		...w.stack is entered or left...
 *
 * Begins by entering the empty stack (id 0) and ends by leaving it.
 */
#ifndef DWELL_ANALYZE_WALK_H
#define DWELL_ANALYZE_WALK_H

#include "analyze/input.h"

enum walk_step { WALK_END, WALK_ENTER, WALK_LEAVE };

struct walk {
	const struct input *source;
	uint32_t stack;
	enum walk_step last;
};

static inline struct walk walk_over(const struct input *s)
{
	return (struct walk){ .source = s, .last = WALK_END };
}

static inline enum walk_step walk_enter(struct walk *w, uint32_t stack)
{
	w->stack = stack;
	return w->last = WALK_ENTER;
}

static inline enum walk_step walk_next(struct walk *w)
{
	const struct input *s = w->source;

	if (!s->n_stacks)
		return WALK_END;
	if (w->last == WALK_END)
		return walk_enter(w, 0);
	if (w->last == WALK_ENTER) {
		if (s->first_child[w->stack])
			return walk_enter(w, s->first_child[w->stack]);
		return w->last = WALK_LEAVE;
	}
	if (w->stack == 0)
		return WALK_END;
	if (s->next_sibling[w->stack])
		return walk_enter(w, s->next_sibling[w->stack]);
	w->stack = s->stacks[w->stack].parent;
	return w->last = WALK_LEAVE;
}

#endif
