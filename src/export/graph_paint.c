/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_paint.h"

#include <math.h>

#include "base/mem.h"
#include "base/text.h"

#define MARGIN	 24.0
#define TITLE	 18.0
#define SUBTITLE 12.0
#define FOOT	 11.0
#define SAMPLE	 34.0 /* of a line, in the legend */
#define ASCENT	 0.95 /* of the letters, from the line's top to the baseline */

/* From none to all of the time; black letters are legible on each. */
const char *const graph_paint_heats[GRAPH_PAINT_N_HEATS] = {
	"f6f7f8", "fff7dc", "ffedbf", "ffe2a0", "ffd37f",
	"ffc066", "ffa852", "ff8f45", "fb7640", "f0603c",
};

const char *const graph_paint_ways[GRAPH_N_WAY_KINDS] = {
	[GRAPH_WAY_ON] = "444c56",	[GRAPH_WAY_TAKEN] = "1f5fbf",
	[GRAPH_WAY_TABLE] = "8a3fb0",	[GRAPH_WAY_CALL] = "1a7f4b",
	[GRAPH_WAY_UNKNOWN] = "7a808a",
};

const double graph_paint_dashes[GRAPH_N_WAY_KINDS][2] = {
	[GRAPH_WAY_TABLE] = { 8, 2 },
	[GRAPH_WAY_CALL] = { 2, 2 },
	[GRAPH_WAY_UNKNOWN] = { 5, 5 },
};

static const char legend[] = "area and colour: share of the time, though no area is "
			     "smaller than its text; letters: how often";

bool graph_paint_is_vertical(const struct graph_point *p)
{
	return p[1].x == p[0].x && p[2].x == p[0].x && p[3].x == p[0].x;
}

/* By the root, as small shares are what is to be told apart. */
unsigned graph_paint_heat(double weight)
{
	return weight > 0 ? 1 + (unsigned)(sqrt(weight) * (GRAPH_PAINT_N_HEATS - 2)) : 0;
}

double graph_paint_way_width(const struct graph_way *w)
{
	return 1 + 3 * w->weight;
}

void graph_paint_node_tip(const struct graph_node *n, struct buf *ret)
{
	char s[TEXT_MAX];

	buf_clear(ret);
	buf_puts(ret, n->title);
	if (n->weight > 0)
		buf_printf(ret, "\n%s of the time", text_pct(s, n->weight, 1));
	if (n->note)
		buf_printf(ret, "\n%s", n->note);
}

void graph_paint_way_tip(const struct graph *g, const struct graph_way *w,
			 struct buf *ret)
{
	buf_clear(ret);
	buf_printf(ret, "%s → %s\n%s", g->nodes.at[w->from].title,
		   g->nodes.at[w->to].title, graph_way_name(w->kind));
	if (w->label)
		buf_printf(ret, ": %s", w->label);
}

static double line(double letters)
{
	return letters * GRAPH_SIZE_LINE;
}

static double width_of(const char *s, double letters)
{
	return s ? (double)text_width(s) * letters * GRAPH_SIZE_COLUMN : 0;
}

/* Kinds that occur, as bits. */
static unsigned kinds_of(const struct graph *g)
{
	unsigned kinds = 0;

	vec_each(w, &g->ways)
		kinds |= 1u << w->kind;
	return kinds;
}

static double sample_width(enum graph_way_kind kind)
{
	return SAMPLE + 6 + width_of(graph_way_name(kind), FOOT) + 20;
}

static double head_height(const struct graph *g)
{
	return (g->title ? line(TITLE) : 0) + (g->subtitle ? line(SUBTITLE) : 0) +
	       (g->title || g->subtitle ? MARGIN / 2 : 0);
}

/* What was left out of the picture, or an empty text. */
static void say_left_out(const struct graph_layout *l, struct buf *ret)
{
	char s[TEXT_MAX];

	buf_clear(ret);
	if (l->n_cut)
		buf_printf(ret, "%s too long to be drawn %s two stubs%s. ",
			   text_number(s, l->n_cut, "ways"), l->n_cut == 1 ? "is" : "are",
			   l->n_cut == 1 ? "" : " each");
	if (l->n_unlabelled)
		buf_printf(ret, "%s of ways had no room. ",
			   text_number(s, l->n_unlabelled, "numbers"));
}

void graph_paint_measure(const struct graph_layout *l, struct graph_canvas *ret)
{
	const struct graph *g = l->g;
	own(buf_fini) struct buf left_out = { 0 };
	double samples = 0, width = l->width;
	unsigned kinds = kinds_of(g);

	say_left_out(l, &left_out);
	for (unsigned i = 0; i < GRAPH_N_WAY_KINDS; i++)
		samples += kinds & 1u << i ? sample_width(i) : 0;
	width = fmax(width, width_of(g->title, TITLE));
	width = fmax(width, width_of(g->subtitle, SUBTITLE));
	width = fmax(width, width_of(buf_str(&left_out), FOOT));
	width = fmax(width, samples);
	if (g->nodes.n)
		width = fmax(width, width_of(legend, FOOT));
	vec_each(foot, &g->feet)
		width = fmax(width, width_of(*foot, FOOT));
	ret->width = width + 2 * MARGIN;
	ret->height = 2 * MARGIN + head_height(g) + l->height;
	if (g->nodes.n)
		ret->height += MARGIN / 2 + line(FOOT) * ((kinds != 0) + 1);
	ret->height += line(FOOT) * ((double)g->feet.n + (left_out.size > 0));
}

static void put_text(struct graph_canvas *c, double x, double y, double letters,
		     enum graph_paint_style style, const char *text)
{
	struct graph_paint_text t = {
		.x = x,
		.y = y + letters * ASCENT,
		.letters = letters,
		.style = style,
		.text = text,
	};

	c->strokes->text(c, &t);
}

static void paint_head(const struct graph *g, struct graph_canvas *c)
{
	double y = MARGIN;

	if (g->title) {
		put_text(c, MARGIN, y, TITLE, GRAPH_PAINT_BOLD, g->title);
		y += line(TITLE);
	}
	if (g->subtitle)
		put_text(c, MARGIN, y, SUBTITLE, GRAPH_PAINT_FAINT, g->subtitle);
}

static void paint_samples(unsigned kinds, struct graph_canvas *c, double y)
{
	double x = MARGIN;

	for (unsigned i = 0; i < GRAPH_N_WAY_KINDS; i++) {
		double middle = y + FOOT / 2 + 1, end = x + SAMPLE;
		struct graph_point p[] = {
			{ x, middle }, { x, middle }, { end, middle }, { end, middle }
		};

		if (!(kinds & 1u << i))
			continue;
		c->strokes->path(c, p, 4, i, 2);
		put_text(c, end + 6, y, FOOT, GRAPH_PAINT_FAINT, graph_way_name(i));
		x += sample_width(i);
	}
}

static void paint_feet(const struct graph_layout *l, struct graph_canvas *c)
{
	own(buf_fini) struct buf left_out = { 0 };
	double y = MARGIN + head_height(l->g) + l->height + MARGIN / 2;
	unsigned kinds = kinds_of(l->g);

	if (kinds) {
		paint_samples(kinds, c, y);
		y += line(FOOT);
	}
	if (l->g->nodes.n) {
		put_text(c, MARGIN, y, FOOT, GRAPH_PAINT_FAINT, legend);
		y += line(FOOT);
	}
	say_left_out(l, &left_out);
	if (left_out.size) {
		put_text(c, MARGIN, y, FOOT, GRAPH_PAINT_FAINT, buf_str(&left_out));
		y += line(FOOT);
	}
	vec_each(foot, &l->g->feet) {
		put_text(c, MARGIN, y, FOOT, GRAPH_PAINT_FAINT, *foot);
		y += line(FOOT);
	}
}

struct origin {
	double x, y;
};

static void paint_path(const struct graph_layout *l, const struct graph_path *p,
		       struct graph_canvas *c, struct origin o)
{
	own(buf_fini) struct buf tip = { 0 };
	own(freep) struct graph_point *points = xcalloc(p->n_points, sizeof(*points));
	const struct graph_way *w = &l->g->ways.at[p->way];
	double width = graph_paint_way_width(w);

	for (size_t i = 0; i < p->n_points; i++) {
		points[i] = l->points.at[p->first_point + i];
		points[i].x += o.x;
		points[i].y += o.y;
	}
	graph_paint_way_tip(l->g, w, &tip);
	c->strokes->begin(c, buf_str(&tip));
	if (p->has_arrow) {
		struct graph_point end = points[p->n_points - 1];

		points[p->n_points - 1].y -= 6; /* the line ends inside the head */
		c->strokes->path(c, points, p->n_points, w->kind, width);
		c->strokes->arrow(c, end, w->kind, width);
	} else {
		c->strokes->path(c, points, p->n_points, w->kind, width);
	}
	c->strokes->end(c);
}

static void paint_lines(const struct graph *g, const struct graph_node *n,
			const struct graph_box *b, struct graph_canvas *c)
{
	double x = b->x + (b->w - b->text_w) / 2, y = b->y + (b->h - b->text_h) / 2;
	double gap = 2 * b->letters * GRAPH_SIZE_COLUMN;

	put_text(c, x, y, b->letters, GRAPH_PAINT_BOLD, n->title);
	for (size_t i = n->first_line; i < n->first_line + n->n_lines; i++) {
		const struct graph_line *text = &g->lines.at[i];
		struct graph_paint_text number = {
			.x = x + b->number_w - gap,
			.y = y + line(b->letters) + b->letters * ASCENT,
			.letters = b->letters,
			.style = GRAPH_PAINT_FAINT,
			.is_right = true,
			.text = text->number,
		};

		y += line(b->letters);
		if (text->number)
			c->strokes->text(c, &number);
		put_text(c, x + b->number_w, y, b->letters, GRAPH_PAINT_PLAIN,
			 text->text);
	}
	if (n->note)
		put_text(c, x, y + line(b->letters), b->letters, GRAPH_PAINT_ITALIC,
			 n->note);
}

static void paint_node(const struct graph_layout *l, size_t i, struct graph_canvas *c,
		       struct origin o)
{
	own(buf_fini) struct buf tip = { 0 };
	const struct graph_node *n = &l->g->nodes.at[i];
	struct graph_box b = l->boxes[i];

	b.x += o.x;
	b.y += o.y;
	graph_paint_node_tip(n, &tip);
	c->strokes->begin(c, buf_str(&tip));
	c->strokes->box(c, &b, n->kind == GRAPH_NODE_BLOCK ? 3 : fmin(14, b.h / 2),
			graph_paint_heat(n->weight));
	paint_lines(l->g, n, &b, c);
	c->strokes->end(c);
}

void graph_paint_all(const struct graph_layout *l, struct graph_canvas *c)
{
	struct origin o = { (c->width - l->width) / 2, MARGIN + head_height(l->g) };

	paint_head(l->g, c);
	vec_each(p, &l->paths)
		paint_path(l, p, c, o);
	for (size_t i = 0; i < l->g->nodes.n; i++)
		paint_node(l, i, c, o);
	vec_each(label, &l->labels)
		put_text(c, o.x + label->x, o.y + label->y - GRAPH_SIZE_LABEL * ASCENT,
			 GRAPH_SIZE_LABEL, GRAPH_PAINT_LABEL, label->text);
	paint_feet(l, c);
}
