/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/code_heat.h"

#include <stdlib.h>

#include "analyze/profile_data.h"
#include "analyze/time_column.h"
#include "base/mem.h"

#define LINE_BITS 6
#define PAGE_BITS 12
/* Half of the smallest caches' lines, and of the smallest buffers' pages: what is hot,
 * and what it takes to drive that out. */
#define HELD_LINES 256
#define HELD_PAGES 32
/* At least, for each line and page that is not at hand. */
#define LINE_CYCLES 4.0
#define PAGE_CYCLES 10.0
/* Of the kernel's, that the samples do not show: the sample's own, and a clock's. */
#define INTERRUPTS 2.0

/* Without a sample there may have been as many. */
#define UNSEEN_SAMPLES 3.0

struct line {
	uint32_t image;
	uint64_t line;
	uint64_t weight, samples;
};

struct lines {
	VEC(struct line) all;
	struct map index_of;
};

static void lines_fini(struct lines *l)
{
	vec_fini(&l->all);
	map_fini(&l->index_of);
}

static uint64_t key_of(uint32_t image, uint64_t line)
{
	return hash_pair(image, line);
}

/* Where the innermost frame's code is; NULL: nobody knows. */
static const struct profile_frame *innermost(const struct profile *p,
					     const struct input *s, uint32_t stack)
{
	for (; stack; stack = s->stacks[stack].parent) {
		uint32_t n, first = input_frames(s, stack, &n);

		if (n)
			return &p->frames.at[first + n - 1];
	}
	return NULL;
}

static void add_weight(struct lines *to, const struct profile_frame *f, uint64_t weight,
		       uint64_t samples)
{
	uint64_t line = f->address >> LINE_BITS;
	bool is_new;
	uint64_t *i = map_slot(&to->index_of, key_of(f->build, line), &is_new);

	if (is_new) {
		*i = to->all.n;
		*vec_push(&to->all) = (struct line){ f->build, line, 0, 0 };
	}
	to->all.at[*i].weight += weight;
	to->all.at[*i].samples += samples;
}

static void add_column(struct code_heat *h, struct lines *to, const struct profile *p,
		       size_t column)
{
	const struct profile_column *of = &p->columns.at[column];
	const struct input *s = &p->sources[of->source];
	size_t at = column - s->first_column;

	for (uint32_t i = 0; i < s->n_stacks; i++) {
		const uint64_t *w = input_weights(s, i);
		const struct profile_frame *f = w && w[at] ? innermost(p, s, i) : NULL;

		if (f)
			add_weight(to, f, w[at], input_counts(s, i)[at]);
		else if (w)
			h->elsewhere += (double)w[at];
	}
	h->n_samples += of->total_count;
	h->elsewhere += UNSEEN_SAMPLES * (double)of->period;
}

static int by_weight(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* As much time as was seen in lines with one sample is in those without any (Good and
 * Turing). */
static double unseen_of(const struct line *l)
{
	return l->samples == 1 ? (double)l->weight : 0;
}

static void choose_hot(struct code_heat *h, struct lines *of)
{
	own(map_fini) struct map pages = { 0 };

	if (of->all.n)
		qsort(of->all.at, of->all.n, sizeof(*of->all.at), by_weight);
	for (size_t i = 0; i < of->all.n; i++) {
		const struct line *l = &of->all.at[i];

		h->elsewhere += unseen_of(l);
		if (i >= HELD_LINES) {
			h->elsewhere += (double)l->weight;
			continue;
		}
		*map_slot(&h->hot, key_of(l->image, l->line), NULL) = 1;
		*map_slot(&pages, key_of(l->image, l->line >> (PAGE_BITS - LINE_BITS)),
			  NULL) = 1;
	}
	h->is_of_few_pages = pages.n <= HELD_PAGES;
}

void code_heat_init(struct code_heat *ret, const struct profile *p)
{
	own(lines_fini) struct lines lines = { 0 };
	size_t column = time_column_find(p, 0);

	*ret = (struct code_heat){ .is_known = column != TIME_COLUMN_NONE &&
					       !profile_is_filtered(p) };
	for (; ret->is_known && column != TIME_COLUMN_NONE;
	     column = time_column_find(p, column + 1))
		add_column(ret, &lines, p, column);
	choose_hot(ret, &lines);
}

void code_heat_fini(struct code_heat *h)
{
	map_fini(&h->hot);
	*h = (struct code_heat){ 0 };
}

void code_heat_lines_init(struct code_heat_lines *ret, const struct code_heat *h,
			  uint32_t sym_image, uint64_t start, uint64_t size,
			  double cycles)
{
	double interrupts = INTERRUPTS * (double)h->n_samples;
	uint64_t first = start >> LINE_BITS;
	uint32_t n = size ? (uint32_t)(((start + size - 1) >> LINE_BITS) - first + 1) : 0;

	*ret = (struct code_heat_lines){ .first = first,
					 .refills = -1,
					 .page_refills = -1 };
	if (!h->is_known || !n)
		return;
	ret->n = n;
	ret->is_hot = xcalloc(n, sizeof(*ret->is_hot));
	for (uint32_t i = 0; i < n; i++)
		ret->is_hot[i] = map_find(&h->hot, key_of(sym_image, first + i));
	ret->refills = interrupts + h->elsewhere * cycles / (HELD_LINES * LINE_CYCLES);
	if (h->is_of_few_pages)
		ret->page_refills =
			interrupts + h->elsewhere * cycles / (HELD_PAGES * PAGE_CYCLES);
}

void code_heat_lines_fini(struct code_heat_lines *l)
{
	free(l->is_hot);
	*l = (struct code_heat_lines){ 0 };
}

static bool is_hot(const struct code_heat_lines *l, uint64_t address)
{
	uint64_t line = address >> LINE_BITS;

	return line >= l->first && line - l->first < l->n && l->is_hot[line - l->first];
}

double code_heat_lines_refills(const struct code_heat_lines *l, uint64_t address)
{
	return is_hot(l, address) ? l->refills : -1;
}

double code_heat_lines_page_refills(const struct code_heat_lines *l, uint64_t address)
{
	return is_hot(l, address) ? l->page_refills : -1;
}
