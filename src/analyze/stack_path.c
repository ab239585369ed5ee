/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stack_path.h"

#include <string.h>

void stack_path_fini(struct stack_path *path)
{
	vec_fini(&path->frames);
	vec_fini(&path->scratch);
}

void stack_path_enter(struct stack_path *path, const struct profile *p,
		      const struct input *s, uint32_t stack)
{
	uint32_t n, first = input_frames(s, stack, &n);

	if (!n)
		return;
	vec_reserve(&path->frames, path->frames.n + n);
	memcpy(path->frames.at + path->frames.n, p->frames.at + first,
	       n * sizeof(path->frames.at[0]));
	path->frames.n += n;
}

void stack_path_leave(struct stack_path *path, const struct input *s, uint32_t stack)
{
	uint32_t n;

	input_frames(s, stack, &n);
	path->frames.n -= n;
}

void stack_path_fill(struct stack_path *path, const struct profile *p,
		     const struct input *s, uint32_t stack)
{
	vec_clear(&path->frames);
	vec_clear(&path->scratch);
	for (; stack; stack = s->stacks[stack].parent)
		*vec_push(&path->scratch) = stack;
	while (path->scratch.n)
		stack_path_enter(path, p, s, path->scratch.at[--path->scratch.n]);
}
