/* SPDX-License-Identifier: Apache-2.0
 *
 * graph_svg - one self-contained SVG: for light and dark pages, with text that can be
 * searched and copied, and more of each node and way where one points at it.
 */
#include "export/graph_paint.h"
#include "export/graph_writer.h"

static const char *const dark_heats[GRAPH_PAINT_N_HEATS] = {
	"22262b", "332b1f", "40311c", "4e3719", "5d3b17",
	"6d3d17", "7f3e18", "913d1a", "a33a1d", "b53621",
};

static const char *const dark_ways[GRAPH_N_WAY_KINDS] = {
	[GRAPH_WAY_ON] = "b8c0cc",	[GRAPH_WAY_TAKEN] = "6ea8ff",
	[GRAPH_WAY_TABLE] = "cf8cf0",	[GRAPH_WAY_CALL] = "5cc48d",
	[GRAPH_WAY_UNKNOWN] = "8f96a1",
};

static const char light_style[] = "svg{color-scheme:light dark;background:#fff}\n"
				  ".p{fill:#fff}\n"
				  "text{fill:#16191d;white-space:pre}\n"
				  ".f{fill:#4b5560}\n"
				  "rect.n{stroke:#6b7480}\n"
				  ".b{font-weight:bold}\n"
				  ".i{font-style:italic}\n"
				  ".l{stroke:#fff;stroke-width:3;paint-order:stroke}\n"
				  "path{fill:none}\n"
				  "g:hover>path{stroke-width:4}\n";
static const char dark_style[] = ".p{fill:#15181c}\n"
				 "svg{background:#15181c}\n"
				 "text{fill:#eceff2}\n"
				 ".f{fill:#b4bcc6}\n"
				 "rect.n{stroke:#8a94a0}\n"
				 ".l{stroke:#15181c}\n";

static const char *const style_classes[GRAPH_PAINT_N_STYLES] = {
	[GRAPH_PAINT_PLAIN] = "",
	[GRAPH_PAINT_BOLD] = " class=\"b\"",
	[GRAPH_PAINT_ITALIC] = " class=\"i\"",
	[GRAPH_PAINT_FAINT] = " class=\"f\"",
	[GRAPH_PAINT_LABEL] = " class=\"l\"",
};

static void put_text(FILE *out, const char *s)
{
	static const char *const entities[256] = {
		['<'] = "&lt;",
		['>'] = "&gt;",
		['&'] = "&amp;",
		['"'] = "&quot;",
	};

	for (; *s; s++) {
		const char *entity = entities[(unsigned char)*s];

		if (entity)
			fputs(entity, out);
		else
			fputc(*s, out);
	}
}

static void svg_begin(struct graph_canvas *c, const char *tip)
{
	fputs("<g><title>", c->out);
	put_text(c->out, tip);
	fputs("</title>\n", c->out);
}

static void svg_end(struct graph_canvas *c)
{
	fputs("</g>\n", c->out);
}

static void svg_box(struct graph_canvas *c, const struct graph_box *b, double radius,
		    unsigned heat)
{
	fprintf(c->out,
		"<rect class=\"n h%u\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
		"height=\"%.1f\" rx=\"%.0f\"/>\n",
		heat, b->x, b->y, b->w, b->h, radius);
}

static void svg_path(struct graph_canvas *c, const struct graph_point *p, size_t n,
		     enum graph_way_kind kind, double width)
{
	fprintf(c->out, "<path class=\"w%u\" stroke-width=\"%.1f\" d=\"M%.1f %.1f",
		(unsigned)kind, width, p->x, p->y);
	for (size_t i = 1; i + 2 < n; i += 3) {
		if (graph_paint_is_vertical(&p[i - 1]))
			fprintf(c->out, "V%.1f", p[i + 2].y);
		else
			fprintf(c->out, "C%.1f %.1f %.1f %.1f %.1f %.1f", p[i].x, p[i].y,
				p[i + 1].x, p[i + 1].y, p[i + 2].x, p[i + 2].y);
	}
	fputs("\"/>\n", c->out);
}

static void svg_arrow(struct graph_canvas *c, struct graph_point at,
		      enum graph_way_kind kind, double width)
{
	double half = 2.5 + width;

	fprintf(c->out,
		"<polygon class=\"a%u\" points=\"%.1f,%.1f %.1f,%.1f %.1f,%.1f\"/>\n",
		(unsigned)kind, at.x, at.y, at.x - half, at.y - 8, at.x + half, at.y - 8);
}

static void svg_text(struct graph_canvas *c, const struct graph_paint_text *t)
{
	if (!*t->text)
		return;
	fprintf(c->out, "<text%s x=\"%.1f\" y=\"%.1f\" font-size=\"%.1f\"%s>",
		style_classes[t->style], t->x, t->y, t->letters,
		t->is_right ? " text-anchor=\"end\"" : "");
	put_text(c->out, t->text);
	fputs("</text>\n", c->out);
}

static void put_colours(FILE *out, const char *const *heats, const char *const *ways)
{
	for (unsigned i = 0; i < GRAPH_PAINT_N_HEATS; i++)
		fprintf(out, ".h%u{fill:#%s}\n", i, heats[i]);
	for (unsigned i = 0; i < GRAPH_N_WAY_KINDS; i++)
		fprintf(out, ".w%u{stroke:#%s}.a%u{fill:#%s}\n", i, ways[i], i, ways[i]);
}

static void put_head(const struct graph *g, const struct graph_canvas *c)
{
	fprintf(c->out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" xml:space=\"preserve\" "
		"width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
		"font-family=\"'DejaVu Sans Mono','Liberation Mono',Menlo,monospace\">\n",
		c->width, c->height, c->width, c->height);
	fputs("<title>", c->out);
	put_text(c->out, g->title ? g->title : "control-flow graph");
	fprintf(c->out, "</title>\n<style>\n%s", light_style);
	put_colours(c->out, graph_paint_heats, graph_paint_ways);
	for (unsigned i = 0; i < GRAPH_N_WAY_KINDS; i++)
		if (graph_paint_dashes[i][0] > 0)
			fprintf(c->out, ".w%u{stroke-dasharray:%.0f %.0f}\n", i,
				graph_paint_dashes[i][0], graph_paint_dashes[i][1]);
	fprintf(c->out, "@media (prefers-color-scheme:dark){\n%s", dark_style);
	put_colours(c->out, dark_heats, dark_ways);
	fprintf(c->out,
		"}\n</style>\n<rect class=\"p\" width=\"%.0f\" height=\"%.0f\"/>\n",
		c->width, c->height);
}

static int svg_write(const struct graph *g, FILE *out, struct err *e)
{
	static const struct graph_strokes strokes = {
		.begin = svg_begin,
		.end = svg_end,
		.box = svg_box,
		.path = svg_path,
		.arrow = svg_arrow,
		.text = svg_text,
	};
	own(graph_layout_freep) struct graph_layout *l = graph_layout_new(g);
	struct graph_canvas c = { .strokes = &strokes, .out = out };

	graph_paint_measure(l, &c);
	put_head(g, &c);
	graph_paint_all(l, &c);
	fputs("</svg>\n", out);
	return graph_writer_finish(out, e);
}

const struct graph_writer graph_writer_svg = {
	.name = "svg",
	.suffix = "svg",
	.mime = "image/svg+xml",
	.summary = "a picture for browsers, to zoom, search and point at",
	.write = svg_write,
};
