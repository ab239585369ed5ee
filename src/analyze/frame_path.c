/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/frame_path.h"

#include <string.h>

void frame_path_fini(struct frame_path *path)
{
	vec_fini(&path->frames);
	vec_fini(&path->scratch);
}

void frame_path_enter(struct frame_path *path, const struct profile *p,
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

void frame_path_leave(struct frame_path *path, const struct input *s, uint32_t stack)
{
	uint32_t n;

	input_frames(s, stack, &n);
	path->frames.n -= n;
}

void frame_path_fill(struct frame_path *path, const struct profile *p,
		     const struct input *s, uint32_t stack)
{
	vec_clear(&path->frames);
	vec_clear(&path->scratch);
	for (; stack; stack = s->stacks[stack].parent)
		*vec_push(&path->scratch) = stack;
	while (path->scratch.n)
		frame_path_enter(path, p, s, path->scratch.at[--path->scratch.n]);
}
