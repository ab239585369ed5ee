/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_layout.h"

#include <math.h>

#include "base/mem.h"
#include "export/graph_ends.h"
#include "export/graph_layers.h"
#include "export/graph_order.h"
#include "export/graph_place.h"

#define STUB	   7.0	/* straight before and after curves */
#define LABEL_STUB 17.0 /* the same beside a label */
#define ARROW	   8.0
/* Between layers: more where ways go far, lest they run flat upon each other. */
#define LEAST_CURVE 16.0
#define MOST_CURVE  120.0
#define CURVE_SHARE 0.07

/* From its highest node's upper border on, a layer has: nodes, stubs, curves, stubs. */
struct band {
	double y, h;	     /* of the nodes */
	double above, below; /* stubs */
	double reach;	     /* how far the ways below it go to the side */
	double curve;	     /* height of the curves below it */
};

struct drawing {
	struct graph_layout *ret;
	struct graph_layers layers;
	struct graph_ends ends;
	struct band *bands;
};

static void drawing_fini(struct drawing *d)
{
	graph_layers_fini(&d->layers);
	graph_ends_fini(&d->ends);
	free(d->bands);
}

static double max_of(double a, double b)
{
	return a > b ? a : b;
}

static size_t layer_of(const struct drawing *d, uint32_t cell)
{
	return d->layers.cells.at[cell].layer;
}

static double x_of(const struct drawing *d, uint32_t cell)
{
	return d->layers.cells.at[cell].x;
}

static void measure_nodes(struct drawing *d)
{
	const struct graph *g = d->ret->g;
	own(freep) double *min_w = xcalloc(g->nodes.n, sizeof(*min_w));

	graph_ends_min_widths(&d->ends, min_w);
	graph_size_boxes(g, min_w, d->ret->boxes);
}

static void set_columns(struct drawing *d)
{
	const struct graph *g = d->ret->g;

	graph_place_cells(&d->layers);
	for (uint32_t i = 0; i < g->nodes.n; i++) {
		struct graph_box *b = &d->ret->boxes[i];

		b->x = x_of(d, i) - b->w / 2;
		d->ret->width = max_of(d->ret->width, b->x + b->w);
	}
	vec_each(c, &d->layers.cells)
		d->ret->width = max_of(d->ret->width, c->x + c->w / 2);
	graph_ends_spread(&d->ends, &d->layers, d->ret->boxes);
}

static void reach(struct drawing *d, size_t layer, double from, double to)
{
	d->bands[layer].reach = max_of(d->bands[layer].reach, fabs(to - from));
}

static void measure_way(struct drawing *d, uint32_t way)
{
	const struct graph_run *run = &d->layers.runs[way];
	const struct graph_way *w = &d->ret->g->ways.at[way];
	const struct graph_end *from = &d->ends.at[GRAPH_ENDS_FROM][way];
	const struct graph_end *to = &d->ends.at[GRAPH_ENDS_TO][way];
	struct band *upper = &d->bands[layer_of(d, w->from)];
	struct band *lower = &d->bands[layer_of(d, w->to)];
	double x = from->x;

	if (from->label_w > 0)
		upper->below = LABEL_STUB;
	if (to->label_w > 0)
		lower->above = LABEL_STUB + ARROW;
	for (uint32_t i = 0; i < run->n; i++) {
		size_t layer = layer_of(d, run->first + i);

		if (run->is_back && (i == 0 || i + 1 == run->n))
			continue; /* a turn is made in the layer before it */
		if (!run->is_back)
			reach(d, layer - 1, x, x_of(d, run->first + i));
		else
			reach(d, layer, x, x_of(d, run->first + i));
		x = x_of(d, run->first + i);
	}
	if (!run->is_cut)
		reach(d, layer_of(d, w->to) - 1, x, to->x);
}

static void set_rows(struct drawing *d)
{
	double y = 0;

	for (size_t i = 0; i < d->layers.n_layers; i++)
		d->bands[i].below = STUB, d->bands[i].above = STUB + ARROW;
	for (uint32_t i = 0; i < d->layers.n_nodes; i++) {
		struct band *b = &d->bands[layer_of(d, i)];

		b->h = max_of(b->h, d->ret->boxes[i].h);
	}
	for (uint32_t i = 0; i < d->ret->g->ways.n; i++)
		measure_way(d, i);
	for (size_t i = 0; i < d->layers.n_layers; i++) {
		struct band *b = &d->bands[i];
		bool is_used = b->h > 0;

		b->curve = b->reach > 0 ? LEAST_CURVE + CURVE_SHARE * b->reach
			   : is_used	? LEAST_CURVE / 2
					: 0;
		b->curve = fmin(b->curve, MOST_CURVE);
		if (!is_used)
			b->above = b->below = 0;
		y += b->above;
		b->y = y;
		y += b->h + b->below + b->curve;
	}
	d->ret->height = y;
	for (uint32_t i = 0; i < d->layers.n_nodes; i++)
		d->ret->boxes[i].y = d->bands[layer_of(d, i)].y;
}

static struct graph_point *push(struct drawing *d, double x, double y)
{
	struct graph_point *p = vec_push(&d->ret->points);

	*p = (struct graph_point){ x, y };
	return p;
}

static void curve(struct drawing *d, double x1, double y1, double x2, double y2,
		  double x3, double y3)
{
	push(d, x1, y1);
	push(d, x2, y2);
	push(d, x3, y3);
}

static struct graph_point last_point(const struct drawing *d)
{
	return d->ret->points.at[d->ret->points.n - 1];
}

static void go_straight(struct drawing *d, double y)
{
	struct graph_point p = last_point(d);

	if (fabs(p.y - y) > 1e-6)
		curve(d, p.x, p.y, p.x, y, p.x, y);
}

/* To another place in the next layer, up or down. */
static void go_over(struct drawing *d, double x, double y)
{
	struct graph_point p = last_point(d);
	double middle = (p.y + y) / 2;

	if (fabs(p.x - x) < 1e-6)
		go_straight(d, y);
	else
		curve(d, p.x, middle, x, middle, x, y);
}

/* Round to another place at the same height; the curve's height is 3/4 of its handles'.
 */
static void turn(struct drawing *d, double x, double height)
{
	struct graph_point p = last_point(d);
	double by = fmin(fabs(height) * 0.9, 6 + fabs(x - p.x) * 0.3) * 4 / 3;

	if (height < 0)
		by = -by;
	curve(d, p.x, p.y + by, x, p.y + by, x, p.y);
}

static double below_of(const struct drawing *d, size_t layer)
{
	const struct band *b = &d->bands[layer];

	return b->y + b->h + b->below;
}

static double above_of(const struct drawing *d, size_t layer)
{
	return d->bands[layer].y - d->bands[layer].above;
}

static void run_down(struct drawing *d, const struct graph_run *run, size_t to_layer,
		     double to_x)
{
	for (uint32_t i = 0; i < run->n; i++) {
		size_t layer = layer_of(d, run->first + i);

		go_over(d, x_of(d, run->first + i), above_of(d, layer));
		go_straight(d, below_of(d, layer));
	}
	go_over(d, to_x, above_of(d, to_layer));
}

/* The bends without the turns are in the layers from the source's to the target's. */
static void run_up(struct drawing *d, const struct graph_run *run, size_t from_layer,
		   size_t to_layer, double to_x)
{
	turn(d, x_of(d, run->first + 1), d->bands[from_layer].curve);
	for (uint32_t i = 1; i + 1 < run->n; i++) {
		size_t layer = layer_of(d, run->first + i);

		if (i > 1)
			go_over(d, x_of(d, run->first + i), below_of(d, layer));
		go_straight(d, above_of(d, layer));
	}
	turn(d, to_x, -d->bands[to_layer - 1].curve);
}

static void begin_path(struct drawing *d, uint32_t way, double x, double y)
{
	*vec_push(&d->ret->paths) = (struct graph_path){
		.way = way,
		.first_point = d->ret->points.n,
		.is_back = d->layers.runs[way].is_back,
	};
	push(d, x, y);
}

static void end_path(struct drawing *d, bool has_arrow)
{
	struct graph_path *p = &d->ret->paths.at[d->ret->paths.n - 1];

	p->n_points = d->ret->points.n - p->first_point;
	p->has_arrow = has_arrow;
}

static void draw_way(struct drawing *d, uint32_t way)
{
	const struct graph_run *run = &d->layers.runs[way];
	const struct graph_way *w = &d->ret->g->ways.at[way];
	const struct graph_end *from = &d->ends.at[GRAPH_ENDS_FROM][way];
	const struct graph_end *to = &d->ends.at[GRAPH_ENDS_TO][way];
	const struct graph_box *source = &d->ret->boxes[w->from];
	size_t from_layer = layer_of(d, w->from), to_layer = layer_of(d, w->to);

	begin_path(d, way, from->x, source->y + source->h);
	if (run->is_cut) {
		go_straight(d, source->y + source->h + d->bands[from_layer].below);
		end_path(d, false);
		begin_path(d, way, to->x, above_of(d, to_layer));
	} else {
		go_straight(d, below_of(d, from_layer));
		if (run->is_back)
			run_up(d, run, from_layer, to_layer, to->x);
		else
			run_down(d, run, to_layer, to->x);
	}
	go_straight(d, d->ret->boxes[w->to].y);
	end_path(d, true);
}

static void add_label(struct drawing *d, uint32_t way, const struct graph_end *end,
		      double y)
{
	if (end->label_w > 0)
		*vec_push(&d->ret->labels) = (struct graph_label){
			.way = way,
			.x = end->x + 4,
			.y = y,
			.text = arena_strdup(&d->ret->texts, end->label),
		};
}

static void draw_ways(struct drawing *d)
{
	for (uint32_t i = 0; i < d->ret->g->ways.n; i++) {
		const struct graph_way *w = &d->ret->g->ways.at[i];
		const struct graph_box *source = &d->ret->boxes[w->from];
		const struct graph_box *target = &d->ret->boxes[w->to];

		draw_way(d, i);
		add_label(d, i, &d->ends.at[GRAPH_ENDS_FROM][i],
			  source->y + source->h + GRAPH_SIZE_LABEL + 2);
		add_label(d, i, &d->ends.at[GRAPH_ENDS_TO][i], target->y - ARROW - 3);
	}
}

struct graph_layout *graph_layout_new(const struct graph *g)
{
	struct graph_layout *ret = xcalloc(1, sizeof(*ret));
	own(drawing_fini) struct drawing d = { .ret = ret };

	ret->g = g;
	ret->boxes = xcalloc(g->nodes.n + 1, sizeof(*ret->boxes));
	graph_ends_init(&d.ends, g);
	if (g->nodes.n == 0)
		return ret;
	measure_nodes(&d);
	graph_layers_init(&d.layers, g, ret->boxes);
	if (d.layers.n_cut) {
		graph_ends_name_cut(&d.ends, d.layers.runs);
		measure_nodes(&d);
		for (size_t i = 0; i < g->nodes.n; i++)
			d.layers.cells.at[i].w = ret->boxes[i].w;
	}
	ret->n_sweeps = graph_order_improve(&d.layers);
	ret->n_crossings = graph_order_crossings(&d.layers);
	ret->n_cut = d.layers.n_cut;
	ret->n_unlabelled = d.ends.n_unlabelled;
	d.bands = xcalloc(d.layers.n_layers, sizeof(*d.bands));
	set_columns(&d);
	set_rows(&d);
	draw_ways(&d);
	return ret;
}

void graph_layout_free(struct graph_layout *l)
{
	if (!l)
		return;
	free(l->boxes);
	vec_fini(&l->paths);
	vec_fini(&l->points);
	vec_fini(&l->labels);
	arena_fini(&l->texts);
	free(l);
}

void graph_layout_freep(struct graph_layout **l)
{
	graph_layout_free(*l);
}
