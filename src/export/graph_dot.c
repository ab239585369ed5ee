/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_dot - the graph in Graphviz's language; where things go is dot's business.
 */
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "export/graph_paint.h"
#include "export/graph_writer.h"

/* Backslashes begin escapes and ampersands entities in what dot shows. */
static void put_text(FILE *out, const char *s)
{
	static const char *const instead[256] = {
		['"'] = "\\\"",
		['\\'] = "\\\\",
		['&'] = "&amp;",
		['\n'] = "\\n",
	};

	for (; *s; s++) {
		const char *text = instead[(unsigned char)*s];

		if (text)
			fputs(text, out);
		else
			fputc(*s, out);
	}
}

static void put_attribute(FILE *out, const char *name, const char *value)
{
	fprintf(out, ", %s=\"", name);
	put_text(out, value);
	fputs("\"", out);
}

static size_t number_columns(const struct graph *g, const struct graph_node *n)
{
	size_t most = 0;

	for (size_t i = n->first_line; i < n->first_line + n->n_lines; i++) {
		const char *number = g->lines.at[i].number;
		size_t width = number ? text_width(number) : 0;

		most = width > most ? width : most;
	}
	return most;
}

/* Lines end in "\l", which aligns them to the left. */
static void put_lines(FILE *out, const struct graph *g, const struct graph_node *n)
{
	size_t columns = number_columns(g, n);

	put_text(out, n->title);
	fputs("\\l", out);
	for (size_t i = n->first_line; i < n->first_line + n->n_lines; i++) {
		const struct graph_line *line = &g->lines.at[i];
		const char *number = line->number ? line->number : "";
		int pad = (int)(columns - text_width(number));

		if (columns) {
			fprintf(out, "%*s", pad, "");
			put_text(out, number);
			fputs("  ", out);
		}
		put_text(out, line->text);
		fputs("\\l", out);
	}
	if (n->note) {
		put_text(out, n->note);
		fputs("\\l", out);
	}
}

static void put_node(FILE *out, const struct graph *g, size_t i,
		     const struct graph_box *b)
{
	const struct graph_node *n = &g->nodes.at[i];
	own(buf_fini) struct buf tip = { 0 };

	fprintf(out, "n%zu [label=\"", i);
	put_lines(out, g, n);
	fprintf(out, "\", fontsize=%.1f, width=%.2f, height=%.2f, fillcolor=\"#%s\"",
		b->letters, b->w / 72, b->h / 72,
		graph_paint_heats[graph_paint_heat(n->weight)]);
	if (n->kind != GRAPH_NODE_BLOCK)
		fputs(", style=\"filled,rounded\"", out);
	graph_paint_node_tip(n, &tip);
	put_attribute(out, "tooltip", buf_str(&tip));
	fputs("];\n", out);
}

static void put_way(FILE *out, const struct graph *g, const struct graph_way *w)
{
	static const char *const styles[GRAPH_N_WAY_KINDS] = {
		[GRAPH_WAY_ON] = "solid",	[GRAPH_WAY_TAKEN] = "solid",
		[GRAPH_WAY_TABLE] = "solid",	[GRAPH_WAY_CALL] = "dotted",
		[GRAPH_WAY_UNKNOWN] = "dashed",
	};
	own(buf_fini) struct buf tip = { 0 };

	fprintf(out, "n%u -> n%u [style=%s, penwidth=%.1f, color=\"#%s\"", w->from, w->to,
		styles[w->kind], graph_paint_way_width(w), graph_paint_ways[w->kind]);
	if (w->label)
		put_attribute(out, "label", w->label);
	graph_paint_way_tip(g, w, &tip);
	put_attribute(out, "edgetooltip", buf_str(&tip));
	fputs("];\n", out);
}

static void put_title(FILE *out, const struct graph *g)
{
	fputs("label=\"", out);
	put_text(out, g->title ? g->title : "");
	if (g->subtitle) {
		fputs("\\n", out);
		put_text(out, g->subtitle);
	}
	vec_each(foot, &g->feet) {
		fputs("\\n", out);
		put_text(out, *foot);
	}
	fputs("\";\n", out);
}

static int dot_write(const struct graph *g, FILE *out, struct err *e)
{
	own(freep) struct graph_box *boxes = xcalloc(g->nodes.n + 1, sizeof(*boxes));
	own(freep) double *min_w = xcalloc(g->nodes.n + 1, sizeof(*min_w));

	graph_size_boxes(g, min_w, boxes);
	fputs("digraph cfg {\n"
	      "graph [charset=\"UTF-8\", fontname=\"monospace\"];\n"
	      "node [shape=box, style=filled, fontname=\"monospace\", "
	      "margin=\"0.11,0.08\"];\n"
	      "edge [fontname=\"monospace\", fontsize=10];\n",
	      out);
	put_title(out, g);
	for (size_t i = 0; i < g->nodes.n; i++)
		put_node(out, g, i, &boxes[i]);
	vec_each(w, &g->ways)
		put_way(out, g, w);
	fputs("}\n", out);
	return graph_writer_finish(out, e);
}

const struct graph_writer graph_writer_dot = {
	.name = "dot",
	.suffix = "dot",
	.mime = "text/vnd.graphviz",
	.summary =
		"Graphviz's language, to be drawn by its dot or another of its programs",
	.write = dot_write,
};
