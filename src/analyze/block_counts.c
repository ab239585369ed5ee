/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/block_counts.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/code_graph.h"
#include "base/map.h"

/* An image while its blocks are gathered. */
struct gathered {
	const char *path;
	const char *why; /* it is left out, or NULL */
	uint32_t image;
	struct sym_range *text;
	size_t n_text;
	VEC(struct block_span) spans;
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
	}
	vec_fini(&m->all);
	map_fini(&m->by_image);
}

void block_counts_fini(struct block_counts *c)
{
	vec_each(image, &c->images) {
		free(image->text);
		block_tiles_fini(&image->tiles);
	}
	vec_fini(&c->images);
	vec_fini(&c->left_out);
}

/* Copies of one file are one image. */
static struct gathered *image_of(struct making *m, uint32_t id)
{
	const struct recording *r = profile_source(m->p, m->source);
	const struct model_image *image = recording_image(r, id);
	struct symbolizer *s = profile_symbolizer(m->p);
	uint32_t sym_image = profile_sym_image(m->p, m->source, id);
	bool is_new = false;
	uint64_t *slot = map_slot(&m->by_image, sym_image, &is_new);
	struct gathered *g;

	if (!is_new)
		return &m->all.at[*slot];
	*slot = m->all.n;
	g = vec_push(&m->all);
	g->path = recording_string(r, image->path);
	g->image = sym_image;
	if (image->kind != IMAGE_ELF)
		g->why = "there is no file of it";
	else if (!(g->n_text = symbolizer_text(s, sym_image, &g->text)))
		g->why = symbolizer_image_problem(s, sym_image);
	if (!g->n_text && !g->why)
		g->why = "there is no code in its file";
	return g;
}

static void leave_out(struct block_counts *c, const char *path, const char *why,
		      const struct code_graph_block *b)
{
	struct block_counts_left *left = NULL;
	uint64_t n;

	vec_each(x, &c->left_out)
		if (!strcmp(x->path, path) && !strcmp(x->why, why))
			left = x;
	if (!left) {
		left = vec_push(&c->left_out);
		*left = (struct block_counts_left){ .path = path, .why = why };
	}
	if (__builtin_mul_overflow(b->times, b->n_instructions, &n) ||
	    __builtin_add_overflow(left->n_instructions, n, &left->n_instructions))
		left->n_instructions = UINT64_MAX;
}

static void take_block(struct making *m, const struct code_graph_block *b)
{
	struct gathered *g = image_of(m, b->image);
	uint64_t end = b->address + b->size_bytes;

	if (g->why)
		leave_out(m->c, g->path, g->why, b);
	else if (b->address < g->text[0].start || end < b->address ||
		 end > g->text[g->n_text - 1].end)
		leave_out(m->c, g->path, "outside of its code", b);
	else
		*vec_push(&g->spans) = (struct block_span){ b->address, end, b->times };
}

static void add_image(struct block_counts *c, struct gathered *g)
{
	struct block_counts_image *image = vec_push(&c->images);

	block_tiles_make(&image->tiles, g->spans.at, g->spans.n, g->text[0].start,
			 g->text[g->n_text - 1].end);
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
	vec_each(g, &m.all)
		if (g->spans.n)
			add_image(ret, g);
	if (ret->images.n)
		qsort(ret->images.at, ret->images.n, sizeof(*ret->images.at), by_path);
	return 0;
}
