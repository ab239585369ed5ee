/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_merge.h"

#include <stdbool.h>

#include "collect/perf_record.h"

void perf_merge_fini(struct perf_merge *m)
{
	vec_fini(&m->rings);
	vec_fini(&m->heap);
}

void perf_merge_add(struct perf_merge *m, struct perf_ring *ring)
{
	*vec_push(&m->rings) = ring;
	vec_reserve(&m->heap, m->rings.n);
}

void perf_merge_remove(struct perf_merge *m, const struct perf_ring *ring)
{
	size_t n = 0;

	vec_each(r, &m->rings)
		if (*r != ring)
			m->rings.at[n++] = *r;
	m->rings.n = n;
}

static void swap_heads(struct perf_merge_head *a, struct perf_merge_head *b)
{
	struct perf_merge_head old = *a;

	*a = *b;
	*b = old;
}

static void sift_up(struct perf_merge *m, size_t i)
{
	struct perf_merge_head *h = m->heap.at;

	for (; i && h[i].time_ns < h[(i - 1) / 2].time_ns; i = (i - 1) / 2)
		swap_heads(&h[i], &h[(i - 1) / 2]);
}

static void sift_down(struct perf_merge *m, size_t i)
{
	struct perf_merge_head *h = m->heap.at;

	for (;;) {
		size_t least = i, left = 2 * i + 1;

		for (size_t c = left; c <= left + 1 && c < m->heap.n; c++)
			if (h[c].time_ns < h[least].time_ns)
				least = c;
		if (least == i)
			return;
		swap_heads(&h[i], &h[least]);
		i = least;
	}
}

static bool take_head(struct perf_ring *ring, struct perf_merge_head *head)
{
	head->ring = ring;
	head->record = perf_ring_peek(ring, &head->size);
	if (!head->record)
		return false;
	head->time_ns = perf_record_time(head->record, head->size);
	return true;
}

static void fill(struct perf_merge *m)
{
	vec_clear(&m->heap);
	vec_each(ring, &m->rings) {
		perf_ring_refresh(*ring);
		if (take_head(*ring, &m->heap.at[m->heap.n]))
			sift_up(m, m->heap.n++);
	}
}

void perf_merge_drain(struct perf_merge *m, uint64_t horizon_ns, perf_merge_fn *fn,
		      void *ctx)
{
	fill(m);
	while (m->heap.n && m->heap.at[0].time_ns <= horizon_ns) {
		struct perf_merge_head *first = &m->heap.at[0];

		fn(ctx, first->record, first->size);
		perf_ring_advance(first->ring, first->size);
		if (!take_head(first->ring, first))
			*first = m->heap.at[--m->heap.n];
		sift_down(m, 0);
	}
}
