/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_ranges.h"

#include <stdlib.h>

void heap_ranges_fini(struct heap_ranges *r)
{
	vec_fini(&r->all);
}

void heap_ranges_add(struct heap_ranges *r, uint64_t start, uint64_t end)
{
	if (start < end)
		*vec_push(&r->all) = (struct heap_range){ start, end };
}

static int by_start(const void *a, const void *b)
{
	const struct heap_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static void sort(struct heap_ranges *r)
{
	if (r->all.n)
		qsort(r->all.at, r->all.n, sizeof(*r->all.at), by_start);
}

void heap_ranges_subtract(struct heap_ranges *from, struct heap_ranges *what,
			  struct heap_ranges *ret)
{
	size_t first = 0;

	sort(from);
	sort(what);
	vec_each(x, &from->all) {
		uint64_t at = x->start;

		while (first < what->all.n && what->all.at[first].end <= x->start)
			first++;
		for (size_t i = first; i < what->all.n && what->all.at[i].start < x->end;
		     i++) {
			heap_ranges_add(ret, at, what->all.at[i].start);
			if (what->all.at[i].end > at)
				at = what->all.at[i].end;
		}
		heap_ranges_add(ret, at, x->end);
	}
}
