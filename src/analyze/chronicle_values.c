/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/chronicle_values.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/gauge_tracks.h"
#include "analyze/heap_rows.h"
#include "base/mem.h"

void chronicle_values_fini(struct chronicle_values *v)
{
	vec_each(x, &v->all)
		free(x->cells);
	vec_fini(&v->all);
}

static struct chronicle_value *add(struct chronicle_values *v, const struct chronicle *t,
				   const char *name, const char *unit,
				   const struct model_process *process)
{
	struct chronicle_value *ret = vec_push(&v->all);

	*ret = (struct chronicle_value){ name, unit, process,
					 xcalloc(t->n_cells, sizeof(double)), 0 };
	for (size_t i = 0; i < t->n_cells; i++)
		ret->cells[i] = NAN;
	return ret;
}

/* The most of what is told of a cell. */
static void set(struct chronicle_value *x, size_t cell, double value)
{
	if (isnan(x->cells[cell]) || value > x->cells[cell])
		x->cells[cell] = value;
	if (value > x->most)
		x->most = value;
}

static void set_over(struct chronicle_value *x, const struct chronicle *t,
		     uint64_t from_ns, uint64_t to_ns, double value)
{
	size_t i = from_ns > t->from_ns ? chronicle_cell_at(t, from_ns) : 0;

	for (; i < t->n_cells && chronicle_cell_ns(t, i) < to_ns; i++)
		set(x, i, value);
}

/* A row of a course tells of the span that ends with it what was held at most, and what
 * was at its end: that is so until the next one. */
static void add_heap(struct chronicle_values *v, const struct chronicle *t,
		     const struct heap_row *rows, size_t n,
		     const struct model_process *process)
{
	struct chronicle_value *x = add(v, t, "heap", "bytes", process);
	uint64_t from_ns = process->start_ns, end_ns = process->end_ns;
	double held = 0;

	for (size_t i = 0; i < n; i++) {
		size_t cell = chronicle_cell_at(t, rows[i].time_ns);

		set_over(x, t, from_ns, rows[i].time_ns, held);
		if (cell < t->n_cells)
			set(x, cell, (double)rows[i].values[0]);
		from_ns = rows[i].time_ns;
		held = (double)rows[i].values[1];
	}
	set_over(x, t, from_ns, end_ns ? end_ns : t->to_ns, held);
}

/* How many rows a process has that begin the array: they are beside each other. */
static size_t n_of_process(const struct heap_row *rows, size_t n)
{
	size_t ret = 0;

	while (ret < n && rows[ret].process == rows[0].process)
		ret++;
	return ret;
}

static int load_heap(struct chronicle_values *v, const struct chronicle *t,
		     const struct recording *r, struct err *e)
{
	own(heap_rows_fini) struct heap_rows rows = { 0 };
	int rc = heap_rows_load(&rows, r, e);
	size_t n_rows = rc == 0 ? rows.of[HEAP_ROWS_COURSE].n : 0;

	for (size_t i = 0, n; i < n_rows; i += n) {
		const struct heap_row *first = &rows.of[HEAP_ROWS_COURSE].at[i];

		n = n_of_process(first, n_rows - i);
		if (first->process < recording_n_processes(r))
			add_heap(v, t, first, n, recording_process(r, first->process));
	}
	return rc;
}

/* What was counted in several intervals: of each as much as it has of the cell. */
static void add_counted(struct chronicle_value *x, double *known_ns,
			const struct chronicle *t, const struct global_row *row,
			double value)
{
	size_t i = row->from_ns > t->from_ns ? chronicle_cell_at(t, row->from_ns) : 0;

	for (; i < t->n_cells && chronicle_cell_ns(t, i) < row->to_ns; i++) {
		uint64_t from = chronicle_cell_ns(t, i), to = chronicle_cell_ns(t, i + 1);
		double ns;

		from = row->from_ns > from ? row->from_ns : from;
		to = row->to_ns < to ? row->to_ns : to;
		ns = to > from ? (double)(to - from) : 0;
		if (ns <= 0)
			continue;
		if (known_ns[i] <= 0)
			x->cells[i] = 0;
		x->cells[i] =
			(x->cells[i] * known_ns[i] + value * ns) / (known_ns[i] + ns);
		known_ns[i] += ns;
	}
}

static void find_most(struct chronicle_value *x, size_t n_cells)
{
	for (size_t i = 0; i < n_cells; i++)
		if (x->cells[i] > x->most)
			x->most = x->cells[i];
}

static void load_gauge(struct chronicle_value *x, const struct chronicle *t,
		       const struct global_rows *rows, const struct gauge_track *track)
{
	own(freep) double *known_ns = xcalloc(t->n_cells, sizeof(*known_ns));
	double value;

	vec_each(row, &rows->rows) {
		if (row->to_ns <= row->from_ns || row->to_ns <= t->from_ns ||
		    !gauge_tracks_value(track, row, &value))
			continue;
		if (gauge_tracks_is_now(track))
			set_over(x, t, row->from_ns, row->to_ns, value);
		else
			add_counted(x, known_ns, t, row, value);
	}
	find_most(x, t->n_cells);
}

static int load_gauges(struct chronicle_values *v, const struct chronicle *t,
		       const struct recording *r, struct err *e)
{
	own(global_rows_fini) struct global_rows rows = { 0 };
	int rc = global_rows_load(&rows, r, e);

	for (size_t i = 0; rc == 0 && rows.has_gauges && i < GAUGE_TRACKS_N; i++)
		load_gauge(add(v, t, gauge_tracks[i].name, gauge_tracks[i].unit, NULL), t,
			   &rows, &gauge_tracks[i]);
	return rc;
}

static int most_first(const void *a, const void *b)
{
	const struct chronicle_value *x = a, *y = b;

	return (x->most < y->most) - (x->most > y->most);
}

int chronicle_values_load(struct chronicle_values *v, const struct chronicle *t,
			  const struct recording *r, struct err *e)
{
	int rc = load_heap(v, t, r, e);

	if (rc == 0 && v->all.n)
		qsort(v->all.at, v->all.n, sizeof(*v->all.at), most_first);
	return rc == 0 ? load_gauges(v, t, r, e) : rc;
}
