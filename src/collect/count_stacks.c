/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_stacks.h"

#include <stdbool.h>

#include "base/search.h"

void count_stacks_fini(struct count_stacks *s)
{
	vec_fini(&s->all);
	vec_fini(&s->fresh);
}

void count_stacks_begin(struct count_stacks *s)
{
	s->at = 0;
}

static bool is_before(const struct count_stack *a, uint32_t image, uint64_t off)
{
	return a->image != image ? a->image < image : a->off < off;
}

/* By steps that double: small programs skip what only large ones have. */
static void skip_to(struct count_stacks *s, uint32_t image, uint64_t off)
{
	size_t low = s->at, high = low, step = 1;

	while (high < s->all.n && is_before(&s->all.at[high], image, off)) {
		low = high + 1;
		high += step;
		step *= 2;
	}
	if (high > s->all.n)
		high = s->all.n;
	s->at = low +
		search_split(high - low, i, is_before(&s->all.at[low + i], image, off));
}

uint32_t count_stacks_find(struct count_stacks *s, uint32_t image, uint64_t off)
{
	const struct count_stack *found;

	skip_to(s, image, off);
	if (s->at == s->all.n)
		return 0;
	found = &s->all.at[s->at];
	return found->image == image && found->off == off ? found->stack : 0;
}

void count_stacks_add(struct count_stacks *s, uint32_t image, uint64_t off,
		      uint32_t stack)
{
	*vec_push(&s->fresh) = (struct count_stack){ image, stack, off };
}

/* From the end on, so that nothing is overwritten that is to be moved yet. */
void count_stacks_end(struct count_stacks *s)
{
	size_t old = s->all.n, fresh = s->fresh.n;

	for (size_t i = 0; i < fresh; i++)
		vec_push(&s->all);
	for (size_t to = old + fresh; fresh;) {
		const struct count_stack *f = &s->fresh.at[fresh - 1];
		bool is_last = !old || is_before(&s->all.at[old - 1], f->image, f->off);

		s->all.at[--to] = is_last ? s->fresh.at[--fresh] : s->all.at[--old];
	}
	vec_clear(&s->fresh);
}
