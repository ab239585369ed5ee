/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/row_stalled.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/function_code.h"
#include "base/mem.h"
#include "cmd/report_options.h"

/* A row with what was sampled there, of all that was. */
struct bound {
	size_t at; /* index of the view's rows */
	double share;
};

static int most_first(const void *a, const void *b)
{
	const struct bound *x = a, *y = b;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static size_t find_bounds(const struct row_view *v, struct bound *ret)
{
	const struct profile *p = v->r->profile;
	double total = 0;
	size_t n = 0;

	for (size_t c = 0; c < v->m->n_columns; c++)
		total += time_column_is(p, c) ? (double)row_view_total(v, c) : 0;
	for (size_t i = 0; i < v->m->n_rows; i++) {
		double sum = 0;

		for (size_t c = 0; c < v->m->n_columns; c++)
			sum += time_column_is(p, c) ? (double)row_view_values(
							      v, v->rows[i].id, false)[c]
						    : 0;
		if (sum > 0)
			ret[n++] = (struct bound){ i, sum / total };
	}
	if (n)
		qsort(ret, n, sizeof(*ret), most_first);
	return n;
}

/* The largest so far, as many as are shown: a heap with the least at its root. */
struct largest {
	double *at;
	size_t n, max;
};

static void sink(struct largest *l, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < l->n; i = child) {
		double swap = l->at[i];

		if (child + 1 < l->n && l->at[child + 1] < l->at[child])
			child++;
		if (l->at[i] <= l->at[child])
			return;
		l->at[i] = l->at[child];
		l->at[child] = swap;
	}
}

static void take(struct largest *l, double value)
{
	if (l->n < l->max) {
		l->at[l->n++] = value;
		for (size_t i = l->n / 2; l->n == l->max && i-- > 0;)
			sink(l, i);
	} else if (l->n && value > l->at[0]) {
		l->at[0] = value;
		sink(l, 0);
	}
}

static bool may_matter(const struct largest *l, double bound)
{
	return l->n < l->max || bound > l->at[0];
}

int row_stalled_weigh(const struct row_view *v, struct row_code *c, uint64_t total,
		      struct err *e)
{
	own(freep) struct bound *bounds = xcalloc(v->m->n_rows + 1, sizeof(*bounds));
	size_t n = find_bounds(v, bounds);
	struct largest largest = { .max = report_options_shown(v->r->ranking.limit, n) };
	own(freep) double *values = xcalloc(largest.max + 1, sizeof(*values));
	double least = v->r->ranking.min_pct / 100;

	largest.at = values;
	for (size_t i = 0; i < v->m->n_rows; i++)
		v->rows[i].value = v->rows[i].tie = 0;
	for (size_t i = 0; i < n; i++) {
		struct ranking_row *row = &v->rows[bounds[i].at];
		struct stall_search_found found;
		int rc;

		if (!may_matter(&largest, bounds[i].share) || bounds[i].share < least)
			break;
		rc = row_code_stall(c, row->id, &found, e);
		if (rc < 0)
			return rc;
		if (rc == 0)
			continue;
		take(&largest, found.share);
		row->value = (uint64_t)llround(found.share * (double)total);
	}
	return 0;
}
