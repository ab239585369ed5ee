/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/code_map.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

/* From `start` to the next one's start the piece holds; NONE: a hole. */
struct stretch {
	uint64_t start;
	uint32_t piece;
};

#define NONE UINT32_MAX

struct code_map {
	VEC(struct code_piece) pieces; /* in the order of time */
	VEC(struct stretch) stretches; /* by start, without overlap */
};

struct edge {
	uint64_t at;
	uint32_t piece;
	bool is_start;
};

/* Pieces that hold at the sweep's position, the latest on top. */
struct heap {
	VEC(uint32_t) at;
};

struct code_map *code_map_new(void)
{
	return xcalloc(1, sizeof(struct code_map));
}

void code_map_free(struct code_map *m)
{
	if (!m)
		return;
	vec_fini(&m->pieces);
	vec_fini(&m->stretches);
	free(m);
}

void code_map_freep(struct code_map **m)
{
	code_map_free(*m);
}

void code_map_add(struct code_map *m, const struct code_piece *piece)
{
	if (piece->size && piece->size <= UINT64_MAX - piece->start &&
	    m->pieces.n < NONE - 1)
		*vec_push(&m->pieces) = *piece;
}

static void heap_push(struct heap *h, uint32_t v)
{
	size_t i = h->at.n;

	*vec_push(&h->at) = v;
	for (; i && h->at.at[(i - 1) / 2] < v; i = (i - 1) / 2)
		h->at.at[i] = h->at.at[(i - 1) / 2];
	h->at.at[i] = v;
}

static void heap_pop(struct heap *h)
{
	uint32_t v = h->at.at[--h->at.n];
	size_t i = 0;

	for (size_t child = 1; child < h->at.n; child = 2 * i + 1) {
		if (child + 1 < h->at.n && h->at.at[child + 1] > h->at.at[child])
			child++;
		if (h->at.at[child] <= v)
			break;
		h->at.at[i] = h->at.at[child];
		i = child;
	}
	if (h->at.n)
		h->at.at[i] = v;
}

static int compare(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->piece < y->piece ? -1 : x->piece > y->piece;
}

static void put(struct code_map *m, uint64_t start, uint32_t piece)
{
	struct stretch *last =
		m->stretches.n ? &m->stretches.at[m->stretches.n - 1] : NULL;

	if (last && last->piece == piece)
		return;
	if (last && last->start == start)
		last->piece = piece;
	else
		*vec_push(&m->stretches) = (struct stretch){ start, piece };
}

void code_map_finish(struct code_map *m)
{
	size_t n = m->pieces.n * 2;
	struct edge *edges = xcalloc(n + 1, sizeof(*edges));
	struct heap heap = { 0 };

	for (size_t i = 0; i < n; i++) {
		const struct code_piece *p = &m->pieces.at[i / 2];
		uint64_t at = i & 1 ? p->start + p->size : p->start;

		edges[i] = (struct edge){ at, (uint32_t)(i / 2), !(i & 1) };
	}
	qsort(edges, n, sizeof(*edges), compare);
	vec_clear(&m->stretches);
	for (size_t i = 0; i < n; i++) {
		uint64_t at = edges[i].at;

		if (edges[i].is_start)
			heap_push(&heap, edges[i].piece);
		while (heap.at.n) {
			const struct code_piece *top = &m->pieces.at[heap.at.at[0]];

			if (top->start + top->size > at)
				break;
			heap_pop(&heap);
		}
		put(m, at, heap.at.n ? heap.at.at[0] : NONE);
	}
	vec_fini(&heap.at);
	free(edges);
}

const struct code_piece *code_map_find(const struct code_map *m, uint64_t address)
{
	size_t low = search_split(m->stretches.n, i, m->stretches.at[i].start <= address);

	if (!low || m->stretches.at[low - 1].piece == NONE)
		return NULL;
	return &m->pieces.at[m->stretches.at[low - 1].piece];
}

size_t code_map_count(const struct code_map *m)
{
	return m->pieces.n;
}

const struct code_piece *code_map_at(const struct code_map *m, size_t i)
{
	return &m->pieces.at[i];
}
