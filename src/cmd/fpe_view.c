/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/fpe_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const struct fpe_event fpe_view_events[FPE_VIEW_EVENTS] = {
	{ "exceptions", "Exceptions", "instructions that raised any" },
	{ "invalid", "Invalid", "no result: 0/0, sqrt(-1), too large for an integer" },
	{ "denormal", "Denormal", "an operand below the normal range" },
	{ "divide-by-zero", "Divide\nby 0", "an infinite result of finite operands" },
	{ "overflow", "Overflow", "a result that is too large" },
	{ "underflow", "Underflow", "a result that is too small to be exact" },
	{ "inexact", "Inexact", "a result that is rounded" },
	{ "integer-divide", "Integer\ndivide", "integers divided by 0, or too large" },
};

/* FPE_VIEW_EVENTS: none of ours. */
static unsigned event_of(const struct profile_column *c)
{
	unsigned i = 0;

	if (strcmp(c->experiment, "fpe") != 0)
		return FPE_VIEW_EVENTS;
	while (i < FPE_VIEW_EVENTS && strcmp(c->name, fpe_view_events[i].name) != 0)
		i++;
	return i;
}

static bool sum_totals(struct fpe_view *v)
{
	const struct profile *p = v->report.profile;
	bool is_found = false;

	for (size_t i = 0; i < profile_n_columns(p); i++) {
		unsigned event = event_of(profile_column(p, i));

		if (event == FPE_VIEW_EVENTS)
			continue;
		is_found = true;
		v->total[event] += profile_column(p, i)->total_weight;
	}
	return is_found;
}

static void add_type(struct fpe_view *v, unsigned event)
{
	struct fpe_row *row;

	if (!v->total[event])
		return;
	row = vec_push(&v->rows);
	*row = (struct fpe_row){ .label.function = MODEL_NONE };
	buf_puts(&row->label.name, fpe_view_events[event].name);
	row->name = buf_str(&row->label.name);
	row->values[0] = row->values[event] = v->total[event];
}

static void add_row(struct fpe_view *v, const struct grouping *g, size_t i)
{
	const struct metrics *m = grouping_metrics(g);
	struct fpe_row row = { .label.function = MODEL_NONE };
	uint64_t any = 0;

	for (size_t k = 0; k < m->n_columns; k++) {
		unsigned event = event_of(profile_column(v->report.profile, k));
		uint64_t value = m->exclusive[i * m->n_columns + k];

		if (event == FPE_VIEW_EVENTS)
			continue;
		row.values[event] += value;
		any |= value;
	}
	if (!any)
		return;
	grouping_label(g, i, &row.label);
	row.name = buf_str(&row.label.name);
	*vec_push(&v->rows) = row;
}

/* Rows that are alike are in the order of their names. */
static int compare(const void *a, const void *b, void *ctx)
{
	unsigned sort = *(const unsigned *)ctx;
	const struct fpe_row *x = a, *y = b;
	uint64_t m = x->values[sort], n = y->values[sort];

	if (m == n) {
		m = x->values[0];
		n = y->values[0];
	}
	return m != n ? (m < n) - (m > n) : strcmp(x->name, y->name);
}

static int group(struct fpe_view *v, struct err *e)
{
	const struct dimension *d = dimension_find(v->by);
	own(grouping_freep) struct grouping *g = NULL;
	const struct profile *p = v->report.profile;
	int rc = profile_n_sources(p) > 1 ? grouping_make_shared(p, d, &g, e)
					  : grouping_make(p, d, &g, e);

	if (rc < 0)
		return rc;
	v->title = d->title;
	for (size_t i = 0; i < grouping_n_rows(g); i++)
		add_row(v, g, i);
	return 0;
}

int fpe_view_load(struct fpe_view *v, struct err *e)
{
	int rc = 0;

	if (!sum_totals(v))
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has no exceptions: record with 'dwell run -e fpe'",
			       v->report.paths[0]);
	if (strcmp(v->by, "type") != 0) {
		rc = group(v, e);
	} else {
		v->title = "Type";
		for (unsigned i = 1; i < FPE_VIEW_EVENTS; i++)
			add_type(v, i);
	}
	if (rc == 0 && v->rows.n)
		qsort_r(v->rows.at, v->rows.n, sizeof(*v->rows.at), compare, &v->sort);
	return rc;
}

void fpe_view_fini(struct fpe_view *v)
{
	vec_each(row, &v->rows)
		grouping_label_fini(&row->label);
	vec_fini(&v->rows);
	report_profile_close(&v->report);
}
