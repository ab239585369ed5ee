/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/heap_rows.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[HEAP_ROWS_N][HEAP_ROWS_VALUES + 1] = {
	[HEAP_ROWS_SIZES] = { "less-than", "allocations", "allocated", "left-blocks",
			      "left" },
	[HEAP_ROWS_LIFETIMES] = { "lived-less-than", "blocks", "bytes" },
	[HEAP_ROWS_COURSE] = { "held-at-most", "held", "held-blocks", "allocated",
			       "allocations" },
	[HEAP_ROWS_CUTS] = { "held-then", "held-blocks-then", "uncut" },
};

static bool is_over_time(enum heap_rows_kind kind)
{
	return kind == HEAP_ROWS_COURSE || kind == HEAP_ROWS_CUTS;
}

const char *const *heap_rows_names(enum heap_rows_kind kind)
{
	return names[kind];
}

struct reading {
	struct heap_rows *to;
	const struct recording *recording;
};

static bool has_shape(const struct recording *r, const struct model_trace_type *type,
		      enum heap_rows_kind kind)
{
	uint32_t n = 0;

	for (; names[kind][n]; n++)
		if (n >= type->n_columns ||
		    strcmp(recording_string(r, type->columns[n].name), names[kind][n]))
			return false;
	return n == type->n_columns;
}

static struct heap_row *row_of(struct heap_rows *h, enum heap_rows_kind kind,
			       uint64_t first)
{
	struct heap_row *row;

	if (!is_over_time(kind))
		vec_each(x, &h->of[kind])
			if (x->values[0] == first)
				return x;
	row = vec_push(&h->of[kind]);
	*row = (struct heap_row){ .values = { first } };
	return row;
}

static void add_row(const struct reading *in, enum heap_rows_kind kind,
		    const struct model_trace *t)
{
	struct heap_row *row = row_of(in->to, kind, t->values[0]);

	row->time_ns = t->time_ns;
	if (t->thread < recording_n_threads(in->recording))
		row->process = recording_thread(in->recording, t->thread)->process;
	for (unsigned i = 1; names[kind][i]; i++)
		row->values[i] += t->values[i];
}

static int take(void *ctx, const struct model_trace *t, struct err *e)
{
	const struct reading *in = ctx;

	(void)e;
	if (t->trace_type >= recording_n_trace_types(in->recording))
		return 0;
	for (int kind = 0; kind < HEAP_ROWS_N; kind++)
		if (has_shape(in->recording,
			      recording_trace_type(in->recording, t->trace_type),
			      (enum heap_rows_kind)kind))
			add_row(in, (enum heap_rows_kind)kind, t);
	return 0;
}

static int by_first(const void *a, const void *b)
{
	const struct heap_row *x = a, *y = b;

	return (x->values[0] > y->values[0]) - (x->values[0] < y->values[0]);
}

static int by_time(const void *a, const void *b)
{
	const struct heap_row *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

int heap_rows_load(struct heap_rows *h, const struct recording *r, struct err *e)
{
	struct reading in = { h, r };
	int rc = recording_each_trace(r, take, &in, e);

	for (int kind = 0; kind < HEAP_ROWS_N && rc == 0; kind++)
		if (h->of[kind].n)
			qsort(h->of[kind].at, h->of[kind].n, sizeof(struct heap_row),
			      is_over_time((enum heap_rows_kind)kind) ? by_time
								      : by_first);
	return rc;
}

void heap_rows_fini(struct heap_rows *h)
{
	for (int kind = 0; kind < HEAP_ROWS_N; kind++)
		vec_fini(&h->of[kind]);
}
