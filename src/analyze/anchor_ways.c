/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_ways.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/anchor_leaders.h"
#include "analyze/anchor_rows.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/own.h"
#include "insn/procedure.h"

/* The odds of a way differ by that between windows, before any is known.  It is worth one
 * of them, as a few may agree by chance. */
#define USUAL 0.2

struct making {
	struct anchor_ways *to;
	const struct anchor_ways_input *in;
	struct map way_to; /* of a block and an address: way of a jump */
};

static void making_fini(struct making *m)
{
	map_fini(&m->way_to);
}

void anchor_ways_fini(struct anchor_ways *w)
{
	free(w->of);
	free(w->left);
	free(w->are_told);
}

/* A branch that leaves the procedure has one target, whatever that is. */
static void index_ways(struct making *m)
{
	const struct procedure *p = m->in->procedure;

	for (uint32_t i = 0; i < p->n_ways; i++) {
		const struct procedure_way *w = &p->ways[i];

		if (w->from != PROCEDURE_OUTSIDE && w->to != PROCEDURE_OUTSIDE &&
		    w->kind != PROCEDURE_WAY_ON)
			*map_slot(&m->way_to, hash_pair(w->from, p->blocks[w->to].start),
				  NULL) = i;
	}
}

/* The block's way of a kind; PROCEDURE_OUTSIDE: it has none. */
static uint32_t way_of_kind(const struct procedure *p, const struct procedure_block *b,
			    enum procedure_way_kind kind)
{
	for (uint32_t i = b->first_out; i < b->first_out + b->n_out; i++)
		if (p->ways[i].kind == kind)
			return i;
	return PROCEDURE_OUTSIDE;
}

static uint32_t way_of_row(const struct making *m, uint32_t block,
			   const struct anchor_rows_way *x)
{
	const struct procedure *p = m->in->procedure;
	const uint64_t *way = NULL;

	if (x->to.sym_image == m->in->sym_image)
		way = map_find(&m->way_to, hash_pair(block, x->to.offset + m->in->delta));
	return way ? (uint32_t)*way
		   : way_of_kind(p, &p->blocks[block], PROCEDURE_WAY_LEAVE);
}

static void add_jumps(struct making *m, uint32_t block)
{
	const struct anchor_rows *rows = m->in->rows;
	struct anchor_rows_place behind = {
		m->in->sym_image, m->in->procedure->blocks[block].end - m->in->delta
	};
	uint32_t n = m->to->n_groups;

	for (size_t i = anchor_rows_find_ways(rows, &behind); i < rows->ways.n; i++) {
		const struct anchor_rows_way *x = &rows->ways.at[i];
		uint32_t group = anchor_leaders_group(m->in->leaders, x->window),
			 way = way_of_row(m, block, x);
		double times = (double)x->times * rows->windows.at[x->window].weight;

		if (x->behind.sym_image != behind.sym_image ||
		    x->behind.offset != behind.offset)
			break;
		m->to->left[(size_t)block * n + group] += times;
		if (way != PROCEDURE_OUTSIDE)
			m->to->of[(size_t)way * n + group] += times;
	}
}

/* Who did not take a branch is the rest. */
static void add_rest(struct making *m, uint32_t block)
{
	const struct procedure *p = m->in->procedure;
	uint32_t on = way_of_kind(p, &p->blocks[block], PROCEDURE_WAY_ON),
		 n = m->to->n_groups;
	double *left = m->to->left + (size_t)block * n;

	for (uint32_t i = 0; i < n; i++) {
		double rest = m->in->blocks[(size_t)block * n + i] - left[i];

		if (rest <= 0)
			continue;
		left[i] += rest;
		if (on != PROCEDURE_OUTSIDE)
			m->to->of[(size_t)on * n + i] += rest;
	}
}

static bool is_any(const double *of_groups, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (of_groups[i] > 0)
			return true;
	return false;
}

static void add_block(struct making *m, uint32_t block)
{
	const struct procedure_block *b = &m->in->procedure->blocks[block];
	uint32_t n = m->to->n_groups;

	if (b->end_kind != PROCEDURE_END_BRANCH && b->end_kind != PROCEDURE_END_INDIRECT)
		return;
	add_jumps(m, block);
	if (b->end_kind == PROCEDURE_END_BRANCH)
		add_rest(m, block);
	m->to->are_told[block] = is_any(m->to->left + (size_t)block * n, n);
}

void anchor_ways_make(struct anchor_ways *ret, const struct anchor_ways_input *in)
{
	own(making_fini) struct making m = { .to = ret, .in = in };
	const struct procedure *p = in->procedure;
	uint32_t n = in->leaders->n_groups;

	*ret = (struct anchor_ways){
		.of = xcalloc((size_t)p->n_ways * n + 1, sizeof(*ret->of)),
		.left = xcalloc((size_t)p->n_blocks * n + 1, sizeof(*ret->left)),
		.are_told = xcalloc(p->n_blocks + 1, sizeof(*ret->are_told)),
		.n_groups = n
	};
	if (!in->rows->ways.n)
		return;
	index_ways(&m);
	for (uint32_t i = 0; i < p->n_blocks; i++)
		add_block(&m, i);
}

static double sum_of(const double *of_groups, uint32_t n)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += of_groups[i];
	return sum;
}

double anchor_ways_share(const struct anchor_ways *w, const struct procedure *p,
			 uint32_t way)
{
	uint32_t n = w->n_groups;

	return sum_of(w->of + (size_t)way * n, n) /
	       sum_of(w->left + (size_t)p->ways[way].from * n, n);
}

double anchor_ways_variance(const struct anchor_ways *w, const struct procedure *p,
			    uint32_t way)
{
	uint32_t n_groups = w->n_groups;
	const double *of = w->of + (size_t)way * n_groups,
		     *left = w->left + (size_t)p->ways[way].from * n_groups;
	double sum = sum_of(of, n_groups), share = anchor_ways_share(w, p, way),
	       squares = 0, n = 0;

	for (uint32_t i = 0; i < n_groups; i++) {
		squares += pow((of[i] - share * left[i]) / sum, 2);
		n += left[i] > 0;
	}
	if (n < 2 || sum <= 0)
		return INFINITY;
	return (n * squares + pow(USUAL * (1 - share), 2) / n) / (n - 1);
}
