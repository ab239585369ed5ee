/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_layout.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/own.h"

#define NEARLY 0.01

struct random {
	uint64_t state;
};

static uint32_t draw(struct random *r, uint32_t n)
{
	r->state = r->state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(r->state >> 33) % n;
}

static void add_block(struct graph *g, uint32_t n_lines, double weight, double frequency)
{
	char title[30];

	snprintf(title, sizeof(title), "block %zu", g->nodes.n);
	graph_add_node(g, GRAPH_NODE_BLOCK, title);
	for (uint32_t i = 0; i < n_lines; i++)
		graph_add_line(g, "add $0x1,%rax", i % 2 ? "12" : NULL);
	graph_set_weight(g, weight, frequency);
}

/* Ways as "0>1 1>2 2>1"; each has its own text as its label. */
static struct graph *make_graph(size_t n_nodes, const char *ways)
{
	struct graph *g = graph_new();
	unsigned from, to;
	int n;

	graph_add_node(g, GRAPH_NODE_ENTRY, "entry");
	for (size_t i = 1; i < n_nodes; i++)
		add_block(g, (uint32_t)i % 5, 0.1 * (double)(i % 3), (double)(i * i));
	for (; sscanf(ways, " %u>%u%n", &from, &to, &n) == 2; ways += n)
		graph_add_way(g, from, to, GRAPH_WAY_ON, "1,234", 0.5);
	return g;
}

static struct graph *make_random_graph(uint64_t seed, uint32_t n_nodes)
{
	struct random r = { seed * 77777 + 1 };
	struct graph *g = graph_new();

	for (uint32_t i = 0; i < n_nodes; i++)
		add_block(g, draw(&r, 9), draw(&r, 100) / 100.0, draw(&r, 1000));
	for (uint32_t i = 0; i < n_nodes; i++)
		for (uint32_t n = draw(&r, draw(&r, 12) ? 4 : 30); n; n--)
			graph_add_way(g, i, draw(&r, n_nodes),
				      draw(&r, GRAPH_N_WAY_KINDS),
				      draw(&r, 3) ? "77 %" : NULL, draw(&r, 11) / 10.0);
	return g;
}

static bool do_overlap(const struct graph_box *a, const struct graph_box *b)
{
	return a->x + a->w > b->x + NEARLY && b->x + b->w > a->x + NEARLY &&
	       a->y + a->h > b->y + NEARLY && b->y + b->h > a->y + NEARLY;
}

static void assert_nodes_stand_apart(const struct graph_layout *l)
{
	for (size_t i = 0; i < l->g->nodes.n; i++) {
		const struct graph_box *b = &l->boxes[i];

		assert_true(b->w > 0 && b->h > 0);
		assert_true(b->text_w <= b->w && b->text_h <= b->h);
		assert_true(b->x >= -NEARLY && b->x + b->w <= l->width + NEARLY);
		assert_true(b->y >= -NEARLY && b->y + b->h <= l->height + NEARLY);
		for (size_t k = 0; k < i; k++)
			assert_false(do_overlap(b, &l->boxes[k]));
	}
}

static double between(const double p[4], double t)
{
	double u = 1 - t;

	return u * u * u * p[0] + 3 * u * u * t * p[1] + 3 * u * t * t * p[2] +
	       t * t * t * p[3];
}

/* Eight points of each curve lie in no node. */
static void assert_curve_is_clear(const struct graph_layout *l,
				  const struct graph_point *p)
{
	double xs[] = { p[0].x, p[1].x, p[2].x, p[3].x };
	double ys[] = { p[0].y, p[1].y, p[2].y, p[3].y };

	for (int i = 0; i <= 8; i++) {
		double t = i / 8.0;
		struct graph_box at = { .x = between(xs, t), .y = between(ys, t) };

		assert_true(at.x >= -NEARLY && at.x <= l->width + NEARLY);
		assert_true(at.y >= -NEARLY && at.y <= l->height + NEARLY);
		for (size_t k = 0; k < l->g->nodes.n; k++)
			assert_false(do_overlap(&at, &l->boxes[k]));
	}
}

static void assert_leaves(const struct graph_box *b, const struct graph_point *p)
{
	assert_true(p->x >= b->x && p->x <= b->x + b->w);
	assert_true(fabs(p->y - (b->y + b->h)) < NEARLY);
}

static void assert_arrives(const struct graph_box *b, const struct graph_point *p)
{
	assert_true(p->x >= b->x && p->x <= b->x + b->w);
	assert_true(fabs(p->y - b->y) < NEARLY);
	assert_true(p[-2].x == p->x && p[-2].y < p->y); /* from above */
}

static void assert_path_is_right(const struct graph_layout *l,
				 const struct graph_path *path)
{
	const struct graph_way *w = &l->g->ways.at[path->way];
	const struct graph_point *p = &l->points.at[path->first_point];
	size_t n = path->n_points;

	assert_true(n >= 4 && n % 3 == 1);
	if (path == l->paths.at || path[-1].way != path->way)
		assert_leaves(&l->boxes[w->from], p);
	else
		assert_false(path[-1].has_arrow); /* the other stub */
	if (path->has_arrow)
		assert_arrives(&l->boxes[w->to], &p[n - 1]);
	for (size_t i = 1; i < n && !path->is_back; i++)
		assert_true(p[i].y >= p[i - 1].y - NEARLY);
	if (path->is_back)
		assert_true(l->boxes[w->to].y <= l->boxes[w->from].y);
	else
		assert_true(l->boxes[w->to].y > l->boxes[w->from].y);
	for (size_t i = 0; i + 3 < n; i += 3)
		assert_curve_is_clear(l, &p[i]);
}

static void assert_labels_are_legible(const struct graph_layout *l)
{
	for (size_t i = 0; i < l->labels.n; i++) {
		const struct graph_label *a = &l->labels.at[i];
		struct graph_box box = { .x = a->x,
					 .y = a->y - 0.8 * GRAPH_SIZE_LABEL,
					 .w = graph_size_label(a->text),
					 .h = GRAPH_SIZE_LABEL };

		for (size_t k = 0; k < l->g->nodes.n; k++)
			assert_false(do_overlap(&box, &l->boxes[k]));
		for (size_t k = 0; k < i; k++) {
			const struct graph_label *b = &l->labels.at[k];
			struct graph_box other = { .x = b->x,
						   .y = b->y - 0.8 * GRAPH_SIZE_LABEL,
						   .w = graph_size_label(b->text),
						   .h = GRAPH_SIZE_LABEL };

			assert_false(do_overlap(&box, &other));
		}
	}
}

static void assert_is_right(const struct graph *g)
{
	own(graph_layout_freep) struct graph_layout *l = graph_layout_new(g);
	size_t n_arrows = 0;

	assert_nodes_stand_apart(l);
	vec_each(p, &l->paths) {
		assert_path_is_right(l, p);
		n_arrows += p->has_arrow;
	}
	assert_int_equal(n_arrows, g->ways.n);
	assert_int_equal(l->paths.n, g->ways.n + l->n_cut);
	assert_labels_are_legible(l);
}

static void graphs_made_by_hand_are_drawn_right(unused void **state)
{
	static const struct {
		size_t n_nodes;
		const char *ways;
	} t[] = {
		{ 1, "" },
		{ 1, "0>0" },
		{ 2, "0>1 1>1 1>1" },
		{ 3, "0>1 1>0 2>2" },
		{ 4, "0>1 0>2 1>3 2>3" },
		{ 4, "0>1 0>1 0>1 1>2 0>2 0>3 3>0" },
		{ 6, "0>1 1>2 2>3 3>2 3>4 4>1 4>5 0>5" },
		{ 5, "1>2 2>1 3>4 4>3" }, /* nothing leads there */
		{ 9, "0>1 0>2 0>3 0>4 0>5 0>6 0>7 1>8 2>8 3>8 4>8 5>8 6>8 7>8 8>0" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		own(graph_freep) struct graph *g = make_graph(t[i].n_nodes, t[i].ways);

		assert_is_right(g);
	}
}

static void random_graphs_are_drawn_right(unused void **state)
{
	for (uint32_t i = 0; i < 60; i++) {
		own(graph_freep) struct graph *g = make_random_graph(i, 1 + i % 29);

		assert_is_right(g);
	}
}

static void a_graph_without_nodes_is_an_empty_picture(unused void **state)
{
	own(graph_freep) struct graph *g = graph_new();
	own(graph_layout_freep) struct graph_layout *l = graph_layout_new(g);

	assert_true(l->width == 0 && l->height == 0);
	assert_int_equal(l->paths.n + l->labels.n, 0);
}

static void loops_in_loops_do_not_cross(unused void **state)
{
	own(graph_freep) struct graph *g =
		make_graph(7, "0>1 1>2 2>3 3>3 3>4 4>2 4>5 5>1 5>6");
	own(graph_layout_freep) struct graph_layout *l = graph_layout_new(g);
	size_t n_back = 0;

	assert_int_equal(l->n_crossings, 0);
	vec_each(p, &l->paths)
		n_back += p->is_back;
	assert_int_equal(n_back, 3);
}

static void a_graph_is_drawn_the_same_way_each_time(unused void **state)
{
	own(graph_freep) struct graph *g = make_random_graph(3, 40);
	own(graph_layout_freep) struct graph_layout *a = graph_layout_new(g);
	own(graph_layout_freep) struct graph_layout *b = graph_layout_new(g);

	assert_int_equal(a->points.n, b->points.n);
	assert_memory_equal(a->points.at, b->points.at,
			    a->points.n * sizeof(*a->points.at));
	assert_memory_equal(a->boxes, b->boxes, g->nodes.n * sizeof(*a->boxes));
}

static void many_targets_stand_in_several_rows(unused void **state)
{
	own(graph_freep) struct graph *g = graph_new();

	add_block(g, 3, 0, 0);
	for (uint32_t i = 1; i <= 60; i++) {
		add_block(g, 5, 0, 0);
		graph_add_way(g, 0, i, GRAPH_WAY_TABLE, "12", 0);
	}
	add_block(g, 1, 0, 0);
	for (uint32_t i = 1; i <= 60; i++)
		graph_add_way(g, i, 61, GRAPH_WAY_TAKEN, NULL, 0);
	assert_is_right(g);

	own(graph_layout_freep) struct graph_layout *l = graph_layout_new(g);

	assert_true(l->width < 2500);
	assert_true(l->height < 2500);
	assert_int_equal(l->n_crossings, 0);
	assert_int_equal(l->labels.n, 60);
}

static void area_is_in_proportion_to_time(unused void **state)
{
	own(graph_freep) struct graph *g = graph_new();
	struct graph_box boxes[3];
	static const double min_w[3] = { 0, 0, 0 };

	add_block(g, 2, 0.6, 1000);
	add_block(g, 2, 0.3, 1);
	add_block(g, 2, 0, 0);
	graph_size_boxes(g, min_w, boxes);
	assert_true(fabs(boxes[0].w * boxes[0].h / (boxes[1].w * boxes[1].h) - 2) <
		    NEARLY);
	assert_true(boxes[0].letters == GRAPH_SIZE_LARGEST);
	assert_true(boxes[1].letters == GRAPH_SIZE_SMALLEST);
	assert_true(boxes[2].letters == GRAPH_SIZE_SMALLEST);
	assert_true(boxes[2].w * boxes[2].h < boxes[1].w * boxes[1].h);
}

/* The longest ways are cut, and each of their ends says where the other is. */
static void huge_graphs_are_drawn_within_bounds(unused void **state)
{
	own(graph_freep) struct graph *g = graph_new();
	uint32_t n = 1200;

	for (uint32_t i = 0; i < n; i++)
		add_block(g, 0, 0, 0);
	for (uint32_t i = 0; i + 1 < n; i++) {
		graph_add_way(g, i, i + 1, GRAPH_WAY_ON, "1", 0);
		graph_add_way(g, i, (i * 7919) % n, GRAPH_WAY_TAKEN, "2", 0);
	}

	own(graph_layout_freep) struct graph_layout *l = graph_layout_new(g);
	bool is_named = false;

	assert_true(l->n_cut > 0 && l->n_cut < n);
	assert_int_equal(l->paths.n, g->ways.n + l->n_cut);
	assert_true(l->points.n < 3000000);
	vec_each(label, &l->labels)
		is_named |= strncmp(label->text, "to block ", 9) == 0;
	assert_true(is_named);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(graphs_made_by_hand_are_drawn_right),
		cmocka_unit_test(random_graphs_are_drawn_right),
		cmocka_unit_test(a_graph_without_nodes_is_an_empty_picture),
		cmocka_unit_test(loops_in_loops_do_not_cross),
		cmocka_unit_test(a_graph_is_drawn_the_same_way_each_time),
		cmocka_unit_test(many_targets_stand_in_several_rows),
		cmocka_unit_test(area_is_in_proportion_to_time),
		cmocka_unit_test(huge_graphs_are_drawn_within_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
