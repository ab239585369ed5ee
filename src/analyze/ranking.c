/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/ranking.h"

#include <stdlib.h>
#include <string.h>

static int heaviest_first(const void *a, const void *b)
{
	const struct ranking_row *x = a, *y = b;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	if (x->tie != y->tie)
		return x->tie > y->tie ? -1 : 1;
	if (x->name && y->name && strcmp(x->name, y->name) != 0)
		return strcmp(x->name, y->name);
	return x->id < y->id ? -1 : x->id > y->id;
}

static int by_name(const void *a, const void *b)
{
	const struct ranking_row *x = a, *y = b;
	int names = x->name && y->name ? strcmp(x->name, y->name) : 0;

	return names ? names : heaviest_first(a, b);
}

size_t ranking_order(struct ranking_row *rows, size_t n, const struct ranking_options *o)
{
	double total = (double)o->total, sum = 0;
	size_t shown = 0;

	if (n)
		qsort(rows, n, sizeof(*rows), heaviest_first);
	for (; shown < n; shown++) {
		double value = (double)rows[shown].value;
		bool is_small = value * 100 < o->min_pct * total;

		if ((o->limit && shown == o->limit) || is_small ||
		    (!rows[shown].value && !rows[shown].tie))
			break;
		if (o->cumulative > 0 && sum * 100 >= o->cumulative * total)
			break;
		sum += value;
	}
	if (o->by_name && shown)
		qsort(rows, shown, sizeof(*rows), by_name);
	return shown;
}
