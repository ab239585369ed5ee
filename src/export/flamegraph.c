/* SPDX-License-Identifier: Apache-2.0
 *
 * flamegraph - one self-contained page: the calling contexts as boxes.
 *
 * The page (flamegraph.html, .css, .js) is embedded at build time; only the title and
 * the data are put in here.  The data is JSON in a block that no browser runs, with
 * every character escaped that HTML could act upon.  Small frames are merged until
 * the file is at most FLAMEGRAPH_MAX_BYTES, and the page says so.
 */
#include <string.h>

#include "analyze/quality.h"
#include "base/intern.h"
#include "base/json.h"
#include "base/mem.h"
#include "export/exporter.h"
#include "export/flame_tree.h"
#include "export/flamegraph_page.h"

#define FLAMEGRAPH_MAX_BYTES (1000 * 1000)
/* What a node costs at least; saves trying trees that cannot fit. */
#define FLAMEGRAPH_NODE_BYTES 8

struct page {
	const struct profile *p;
	const struct export_options *o;
	const struct flame_tree *tree;
	struct intern *strings;
	struct json j;
	uint32_t *order, *depth; /* the tree's nodes as they are written */
};

static void put_string_ref(struct page *g, const char *s)
{
	json_u64(&g->j, intern_str(g->strings, s));
}

/* A frame of the tree: [name, image, path, file, line, kind, flags]. */
static void put_frame(struct page *g, const struct flame_frame *frame)
{
	const struct profile_function *f = profile_function(g->p, frame->function);

	json_array(&g->j);
	put_string_ref(g, f->name);
	put_string_ref(g, f->image);
	put_string_ref(g, f->image_path);
	put_string_ref(g, f->decl_file);
	json_u64(&g->j, f->decl_line);
	json_u64(&g->j, f->kind);
	json_u64(&g->j, (unsigned)frame->is_inlined | (unsigned)f->is_resolved << 1);
	json_array_end(&g->j);
}

/* The same for what is no function; kinds 100 and up are the page's own. */
static void put_pseudo_frame(struct page *g, const char *name, unsigned kind)
{
	json_array(&g->j);
	put_string_ref(g, name);
	for (unsigned i = 0; i < 4; i++)
		json_u64(&g->j, 0);
	json_u64(&g->j, kind);
	json_u64(&g->j, 2);
	json_array_end(&g->j);
}

static void put_frames(struct page *g)
{
	json_key(&g->j, "frames");
	json_array(&g->j);
	put_pseudo_frame(g, "all", 100);
	for (size_t i = 1; i < g->tree->frames.n; i++) {
		const struct flame_frame *frame = &g->tree->frames.at[i];

		if (frame->function == FLAME_TREE_SMALL)
			put_pseudo_frame(g, "[small frames]", 101);
		else if (frame->function == FLAME_TREE_NOWHERE)
			put_pseudo_frame(g, "[no stack]", 102);
		else
			put_frame(g, frame);
	}
	json_array_end(&g->j);
}

static void put_strings(struct page *g)
{
	json_key(&g->j, "strings");
	json_array(&g->j);
	for (uint32_t i = 0; i < intern_count(g->strings); i++)
		json_str(&g->j, intern_get(g->strings, i));
	json_array_end(&g->j);
}

static void put_nodes(struct page *g)
{
	size_t n = g->tree->nodes.n, n_columns = g->tree->n_columns;

	json_key(&g->j, "depth");
	json_array(&g->j);
	for (size_t i = 0; i < n; i++)
		json_u64(&g->j, g->depth[i]);
	json_array_end(&g->j);
	json_key(&g->j, "frame");
	json_array(&g->j);
	for (size_t i = 0; i < n; i++)
		json_u64(&g->j, g->tree->nodes.at[g->order[i]].frame);
	json_array_end(&g->j);
	json_key(&g->j, "self");
	json_array(&g->j);
	for (size_t c = 0; c < n_columns; c++) {
		json_array(&g->j);
		for (size_t i = 0; i < n; i++)
			json_u64(&g->j, g->tree->self.at[g->order[i] * n_columns + c]);
		json_array_end(&g->j);
	}
	json_array_end(&g->j);
}

static void put_columns(struct page *g)
{
	own(buf_fini) struct buf label = { 0 };

	json_key(&g->j, "columns");
	json_array(&g->j);
	for (size_t i = 0; i < g->tree->n_columns; i++) {
		size_t column = g->tree->first_column + i;
		const struct profile_column *c = profile_column(g->p, column);

		json_object(&g->j);
		json_key_str(&g->j, "name", exporter_column_label(g->p, column, &label));
		json_key_str(&g->j, "unit", c->unit);
		json_key_str(&g->j, "experiment", c->experiment);
		json_key_u64(&g->j, "total", c->total_weight);
		json_key_u64(&g->j, "count", c->total_count);
		json_object_end(&g->j);
	}
	json_array_end(&g->j);
}

/* Per column: [truncated, unresolved], in its unit. */
static void put_quality(struct page *g)
{
	const struct quality *q = g->o->quality;
	uint64_t lost = 0;

	json_key(&g->j, "quality");
	json_array(&g->j);
	for (size_t i = 0; q && i < g->tree->n_columns; i++) {
		const struct quality_column *c = &q->columns[g->tree->first_column + i];

		json_array(&g->j);
		json_u64(&g->j, c->truncated);
		json_u64(&g->j, c->unresolved);
		json_array_end(&g->j);
	}
	json_array_end(&g->j);
	for (size_t i = 0; q && i < q->n_sources; i++)
		lost += q->sources[i].lost_samples;
	json_key_u64(&g->j, "lost", lost);
}

static void put_data(struct page *g)
{
	json_object(&g->j);
	json_key_str(&g->j, "title", exporter_title(g->p, g->o));
	json_key_double(&g->j, "prunedBelow", g->tree->share);
	put_columns(g);
	put_quality(g);
	put_nodes(g);
	put_frames(g);
	put_strings(g);
	json_object_end(&g->j);
}

static void page_fini(struct page *g)
{
	intern_free(g->strings);
	free(g->order);
	free(g->depth);
}

/* None of '<', '>', '&' leaves here as it is, so that no name can end the data's
 * block.  In JSON they occur in strings only. */
static void add_escaped(struct buf *b, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '<' || s[i] == '>' || s[i] == '&')
			buf_printf(b, "\\u%04x", s[i]);
		else
			buf_u8(b, (uint8_t)s[i]);
	}
}

/* The tree's JSON, fit for the page. */
static int make_data(struct page *g, struct buf *ret, struct err *e)
{
	own(freep) char *json = NULL;
	size_t size = 0, n = g->tree->nodes.n;
	FILE *memory = open_memstream(&json, &size);

	if (!memory)
		return err_os(e, "cannot build the page");
	g->strings = intern_new();
	g->order = xcalloc(n, sizeof(*g->order));
	g->depth = xcalloc(n, sizeof(*g->depth));
	flame_tree_walk(g->tree, g->order, g->depth);
	json_init(&g->j, memory);
	put_data(g);

	int rc = exporter_finish(memory, e);

	fclose(memory);
	if (rc == 0)
		add_escaped(ret, json, size);
	return rc;
}

/* The data of one tree into *ret, if it is at most max bytes or ret is empty.  *is_last:
 * there is no larger tree that fits. */
static int try_tree(const struct profile *p, const struct export_options *o,
		    const struct flame_tree *tree, size_t max, struct buf *ret,
		    bool *is_last, struct err *e)
{
	own(page_fini) struct page g = { .p = p, .o = o, .tree = tree };
	own(buf_fini) struct buf data = { 0 };
	bool is_first = ret->size == 0;

	*is_last = true;
	if (!is_first && tree->nodes.n * FLAMEGRAPH_NODE_BYTES > max)
		return 0;

	int rc = make_data(&g, &data, e);

	if (rc < 0 || (!is_first && data.size > max))
		return rc;
	buf_fini(ret);
	*ret = data;
	data = (struct buf){ 0 };
	*is_last = tree->share == 0;
	return 0;
}

/* As much of the tree as fits; the coarsest is taken as it is. */
static int fit_data(const struct profile *p, const struct export_options *o,
		    struct buf *ret, struct err *e)
{
	size_t first, n = exporter_columns(p, o, &first);
	size_t max = FLAMEGRAPH_MAX_BYTES - strlen(flamegraph_page_head) -
		     strlen(flamegraph_page_tail);
	bool is_last = false;
	int rc = 0;

	for (size_t i = 0; i < flame_tree_n_shares && !is_last && rc == 0; i++) {
		own(flame_tree_freep) struct flame_tree *tree =
			flame_tree_new(p, first, n, flame_tree_shares[i]);

		rc = try_tree(p, o, tree, max, ret, &is_last, e);
	}
	return rc;
}

static int flamegraph_write(const struct profile *p, const struct export_options *o,
			    FILE *out, struct err *e)
{
	own(buf_fini) struct buf data = { 0 };
	int rc = fit_data(p, o, &data, e);

	if (rc < 0)
		return rc;
	fputs(flamegraph_page_head, out);
	fwrite(data.data, 1, data.size, out);
	fputs(flamegraph_page_tail, out);
	return exporter_finish(out, e);
}

const struct exporter export_flamegraph = {
	.name = "flamegraph",
	.suffix = "html",
	.mime = "text/html",
	.summary = "a page to search and zoom, for any browser",
	.write = flamegraph_write,
};
