/* SPDX-License-Identifier: Apache-2.0 */
#include "export/chrome_slices.h"

#include <stdlib.h>

void chrome_slices_fini(struct chrome_slices *s)
{
	vec_fini(&s->slices);
	vec_fini(&s->open);
}

void chrome_slices_clear(struct chrome_slices *s)
{
	vec_clear(&s->slices);
	vec_clear(&s->open);
	s->end_ns = 0;
}

/* Those from a depth on end where the last piece did. */
static void close_from(struct chrome_slices *s, size_t depth)
{
	while (s->open.n > depth) {
		struct chrome_slice slice = s->open.at[--s->open.n];

		slice.to_ns = s->end_ns;
		*vec_push(&s->slices) = slice;
	}
}

static size_t common(const struct chrome_slices *s, const struct chrome_frames *f)
{
	size_t i = 0;

	while (i + f->n_own < f->n && i < s->open.n && s->open.at[i].frame == f->at[i])
		i++;
	return i;
}

void chrome_slices_add(struct chrome_slices *s, const struct chrome_span *piece,
		       const struct chrome_frames *frames)
{
	uint64_t gap_ns = piece->from_ns - s->end_ns;
	size_t same = gap_ns <= piece->gap_ns ? common(s, frames) : 0;

	close_from(s, same);
	for (size_t i = same; i < frames->n; i++)
		*vec_push(&s->open) = (struct chrome_slice){ .from_ns = piece->from_ns,
							     .frame = frames->at[i],
							     .depth = (uint32_t)i };
	s->end_ns = piece->to_ns;
}

static int outer_first(const void *a, const void *b)
{
	const struct chrome_slice *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

void chrome_slices_finish(struct chrome_slices *s)
{
	close_from(s, 0);
	if (s->slices.n)
		qsort(s->slices.at, s->slices.n, sizeof(*s->slices.at), outer_first);
}
