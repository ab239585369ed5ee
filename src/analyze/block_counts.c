/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/block_counts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/code_graph.h"
#include "analyze/function_code.h"
#include "analyze/function_index.h"
#include "analyze/function_ways.h"
#include "base/map.h"

/* An image while its blocks are gathered. */
struct gathered {
	const char *path;
	const char *why; /* it is left out, or NULL */
	uint32_t image;
	struct sym_range *text;
	size_t n_text;
	VEC(struct block_span) spans;
	VEC(struct block_span) low, high; /* the same, where it is estimated */
	VEC(struct block_counts_branch) branches;
};

struct making {
	struct block_counts *c;
	const struct profile *p;
	size_t source;
	struct code_graph graph;
	VEC(struct gathered) all;
	struct map by_image; /* the symbolizer's: index of all */
};

static void making_fini(struct making *m)
{
	code_graph_fini(&m->graph);
	vec_each(g, &m->all) {
		free(g->text);
		vec_fini(&g->spans);
		vec_fini(&g->low);
		vec_fini(&g->high);
		vec_fini(&g->branches);
	}
	vec_fini(&m->all);
	map_fini(&m->by_image);
}

void block_counts_fini(struct block_counts *c)
{
	vec_each(image, &c->images) {
		free(image->text);
		block_tiles_fini(&image->tiles);
		block_tiles_fini(&image->low);
		block_tiles_fini(&image->high);
		vec_fini(&image->branches);
	}
	vec_fini(&c->images);
	vec_fini(&c->left_out);
}

/* Copies of one file are one image. */
static struct gathered *gather(struct making *m, uint32_t sym_image, const char *path,
			       unsigned kind)
{
	struct symbolizer *s = profile_symbolizer(m->p);
	bool is_new = false;
	uint64_t *slot = map_slot(&m->by_image, sym_image, &is_new);
	struct gathered *g;

	if (!is_new)
		return &m->all.at[*slot];
	*slot = m->all.n;
	g = vec_push(&m->all);
	g->path = path;
	g->image = sym_image;
	if (kind != IMAGE_ELF)
		g->why = "there is no file of it";
	else if (!(g->n_text = symbolizer_text(s, sym_image, &g->text)))
		g->why = symbolizer_image_problem(s, sym_image);
	if (!g->n_text && !g->why)
		g->why = "there is no code in its file";
	return g;
}

static struct gathered *image_of(struct making *m, uint32_t id)
{
	const struct recording *r = profile_source(m->p, m->source);
	const struct model_image *image = recording_image(r, id);

	return gather(m, profile_sym_image(m->p, m->source, id),
		      recording_string(r, image->path), image->kind);
}

static void leave_out(struct block_counts *c, const char *path, const char *why,
		      uint64_t n)
{
	struct block_counts_left *left = NULL;

	vec_each(x, &c->left_out)
		if (!strcmp(x->path, path) && !strcmp(x->why, why))
			left = x;
	if (!left) {
		left = vec_push(&c->left_out);
		*left = (struct block_counts_left){ .path = path, .why = why };
	}
	if (__builtin_add_overflow(left->n, n, &left->n))
		left->n = UINT64_MAX;
}

static void leave_out_block(struct block_counts *c, const char *path, const char *why,
			    const struct code_graph_block *b)
{
	uint64_t n;

	if (__builtin_mul_overflow(b->times, b->n_instructions, &n))
		n = UINT64_MAX;
	leave_out(c, path, why, n);
}

static void take_block(struct making *m, const struct code_graph_block *b)
{
	struct gathered *g = image_of(m, b->image);
	uint64_t end = b->address + b->size_bytes;

	if (g->why)
		leave_out_block(m->c, g->path, g->why, b);
	else if (b->address < g->text[0].start || end < b->address ||
		 end > g->text[g->n_text - 1].end)
		leave_out_block(m->c, g->path, "outside of its code", b);
	else
		*vec_push(&g->spans) = (struct block_span){ b->address, end, b->times };
}

static int by_branch(const void *a, const void *b)
{
	const struct block_counts_branch *x = a, *y = b;

	if (x->address != y->address)
		return x->address > y->address ? 1 : -1;
	return (x->n_seen < y->n_seen) - (x->n_seen > y->n_seen);
}

/* Code that two functions share is told once, by the one that tells more. */
static void add_branches(struct block_counts_image *image, struct gathered *g)
{
	if (g->branches.n)
		qsort(g->branches.at, g->branches.n, sizeof(*g->branches.at), by_branch);
	vec_each(b, &g->branches)
		if (!image->branches.n ||
		    image->branches.at[image->branches.n - 1].address != b->address)
			*vec_push(&image->branches) = *b;
}

static void add_image(struct block_counts *c, struct gathered *g)
{
	struct block_counts_image *image = vec_push(&c->images);
	uint64_t from = g->text[0].start, to = g->text[g->n_text - 1].end;

	block_tiles_make(&image->tiles, g->spans.at, g->spans.n, from, to);
	if (g->low.n) {
		block_tiles_make(&image->low, g->low.at, g->low.n, from, to);
		block_tiles_make(&image->high, g->high.at, g->high.n, from, to);
		add_branches(image, g);
	}
	image->path = g->path;
	image->image = g->image;
	image->n_text = g->n_text;
	image->text = steal(&g->text);
}

static int by_path(const void *a, const void *b)
{
	const struct block_counts_image *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : (x->image > y->image) - (x->image < y->image);
}

static void add_images(struct making *m)
{
	struct block_counts *c = m->c;

	vec_each(g, &m->all)
		if (g->spans.n)
			add_image(c, g);
	if (c->images.n)
		qsort(c->images.at, c->images.n, sizeof(*c->images.at), by_path);
}

int block_counts_make(struct block_counts *ret, const struct profile *p, size_t source,
		      struct err *e)
{
	own(making_fini) struct making m = { .c = ret, .p = p, .source = source };
	int rc;

	*ret = (struct block_counts){ 0 };
	rc = code_graph_make(&m.graph, p, source, e);
	if (rc < 0)
		return rc;
	vec_each(b, &m.graph.blocks)
		take_block(&m, b);
	add_images(&m);
	return 0;
}

/* Estimates. */

bool block_counts_may_estimate(const struct profile *p)
{
	for (size_t i = 0; i < profile_n_columns(p); i++)
		if (time_column_is(p, i) && profile_column(p, i)->total_count)
			return true;
	return false;
}

static uint64_t whole(double times)
{
	if (!(times > 0))
		return 0;
	return times < 0x1p63 ? (uint64_t)llround(times) : UINT64_MAX;
}

static void take_branch(struct gathered *g, const struct function_code *c, uint32_t block)
{
	const struct procedure *p = c->procedure;
	const struct procedure_block *b = &p->blocks[block];
	uint32_t on = function_ways_on(p, block);
	uint64_t n_seen = 0;
	double all = 0;

	if (b->n_out != 2 || !b->n_steps || on == PROCEDURE_OUTSIDE)
		return;
	for (uint32_t way = b->first_out; way < b->first_out + b->n_out; way++) {
		all += function_code_taken(c, way);
		n_seen += c->ways[way].told;
	}
	if (all > 0)
		*vec_push(&g->branches) = (struct block_counts_branch){
			.address = p->steps[b->first_step + b->n_steps - 1].address,
			.taken = 1 - function_code_taken(c, on) / all,
			.n_seen = n_seen,
		};
}

/* False: nothing is known of them. */
static bool take_blocks(struct gathered *g, const struct function_code *c)
{
	const struct procedure *p = c->procedure;
	bool is_known = false;

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct function_code_block *b = &c->blocks[i];
		uint64_t start = p->blocks[i].start, end = p->blocks[i].end;

		if (b->times < 0)
			continue;
		is_known = true;
		*vec_push(&g->spans) = (struct block_span){ start, end, whole(b->times) };
		*vec_push(&g->low) =
			(struct block_span){ start, end, whole(b->times_low) };
		*vec_push(&g->high) =
			(struct block_span){ start, end, whole(b->times_high) };
		take_branch(g, c, i);
	}
	return is_known;
}

static int estimate_function(struct making *m, const struct function_index *index,
			     uint32_t function, uint64_t samples, struct err *e)
{
	const struct profile_function *f = profile_function(m->p, function);
	struct gathered *g = gather(m, f->sym_image, f->image_path, f->kind);
	struct function_code_options o = { .index = index };
	own(function_code_fini) struct function_code c = { 0 };
	struct err why = { 0 };
	int rc;

	if (g->why) {
		leave_out(m->c, g->path, g->why, samples);
		return 0;
	}
	rc = function_code_make(&c, m->p, function, &o, &why);
	if (rc == ERR_OS)
		return err_set(e, rc, "%s", why.text);
	if (rc < 0)
		leave_out(m->c, g->path, "their functions cannot be read", samples);
	else if (!take_blocks(g, &c))
		leave_out(m->c, g->path, "nothing can be told of their functions",
			  samples);
	return 0;
}

static uint64_t samples_of(const struct profile *p, const struct function_index *x,
			   uint32_t function)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < profile_n_columns(p); i++)
		if (time_column_is(p, i))
			sum += function_index_samples(x, function, i);
	return sum;
}

int block_counts_estimate(struct block_counts *ret, const struct profile *p,
			  struct err *e)
{
	own(making_fini) struct making m = { .c = ret, .p = p };
	own(function_index_freep) struct function_index *index = NULL;
	int rc = function_code_index(p, &index, e);

	*ret = (struct block_counts){ 0 };
	for (uint32_t i = 0; i < profile_n_functions(p) && rc == 0; i++) {
		uint64_t samples = samples_of(p, index, i);

		if (samples)
			rc = estimate_function(&m, index, i, samples, e);
	}
	if (rc == 0)
		add_images(&m);
	return rc;
}
