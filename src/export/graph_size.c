/* SPDX-License-Identifier: Apache-2.0 */
#include "export/graph_size.h"

#include <math.h>

#include "base/text.h"

/* The area of the heaviest node: as the largest text, but neither less than three
 * times its own nor more than a part of a screen, unless its text needs more.  All
 * nodes together take little more than their texts, even if none stands out. */
#define LARGEST_AREA (480.0 * 480.0)
#define OWN_TIMES    3.0
#define ALL_TIMES    1.5
#define SHAPE	     1.6 /* width by height of what has room to choose */

double graph_size_label(const char *label)
{
	return (double)text_width(label) * GRAPH_SIZE_LABEL * GRAPH_SIZE_COLUMN;
}

static void measure(const struct graph *g, const struct graph_node *n, double letters,
		    struct graph_box *ret)
{
	size_t columns = text_width(n->title), numbers = 0, texts = 0;
	double column = letters * GRAPH_SIZE_COLUMN;

	if (n->note && text_width(n->note) > columns)
		columns = text_width(n->note);
	for (size_t i = n->first_line; i < n->first_line + n->n_lines; i++) {
		const struct graph_line *line = &g->lines.at[i];
		size_t width = text_width(line->text);
		size_t number = line->number ? text_width(line->number) : 0;

		texts = width > texts ? width : texts;
		numbers = number > numbers ? number : numbers;
	}
	numbers += numbers ? 2 : 0;
	if (texts + numbers > columns)
		columns = texts + numbers;
	ret->letters = letters;
	ret->number_w = (double)numbers * column;
	ret->text_w = (double)columns * column;
	ret->text_h =
		(double)(1 + n->n_lines + (n->note != NULL)) * letters * GRAPH_SIZE_LINE;
	ret->w = ret->text_w + 2 * GRAPH_SIZE_PADDING;
	ret->h = ret->text_h + 2 * GRAPH_SIZE_PADDING;
}

static void measure_all(const struct graph *g, const double *min_w, struct graph_box *ret)
{
	double low = INFINITY, high = 0;

	for (size_t i = 0; i < g->nodes.n; i++) {
		double f = g->nodes.at[i].frequency;

		if (f > 0) {
			low = fmin(low, f);
			high = fmax(high, f);
		}
	}
	for (size_t i = 0; i < g->nodes.n; i++) {
		const struct graph_node *n = &g->nodes.at[i];
		double letters = GRAPH_SIZE_SMALLEST;

		if (n->frequency > 0)
			letters += (GRAPH_SIZE_LARGEST - letters) *
				   (high > low ? (log(n->frequency) - log(low)) /
							 (log(high) - log(low))
					       : 0.5);
		measure(g, n, letters, &ret[i]);
		ret[i].w = fmax(ret[i].w, min_w[i]);
	}
}

/* The area that all of the time would have. */
static double whole_area(const struct graph *g, const struct graph_box *boxes)
{
	double largest = 0, own_area = 0, all = 0, weight = 0;

	for (size_t i = 0; i < g->nodes.n; i++) {
		double area = boxes[i].w * boxes[i].h;

		all += area;
		largest = fmax(largest, area);
		if (g->nodes.at[i].weight > weight) {
			weight = g->nodes.at[i].weight;
			own_area = area;
		}
	}
	if (weight == 0)
		return 0;
	largest = fmin(LARGEST_AREA, fmax(largest, OWN_TIMES * own_area));
	return fmax(own_area / weight, fmin(largest / weight, ALL_TIMES * all));
}

static void grow(struct graph_box *b, double area)
{
	if (b->w * b->h >= area)
		return;
	b->w = fmax(b->w, sqrt(area * SHAPE));
	if (b->w * b->h < area)
		b->h = area / b->w;
	else
		b->w = area / b->h;
}

void graph_size_boxes(const struct graph *g, const double *min_w, struct graph_box *ret)
{
	measure_all(g, min_w, ret);

	double whole = whole_area(g, ret);

	for (size_t i = 0; i < g->nodes.n; i++)
		grow(&ret[i], whole * g->nodes.at[i].weight);
}
