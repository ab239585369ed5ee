/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/chronicle_values.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/gauge_tracks.h"
#include "analyze/heap_rows.h"
#include "analyze/track.h"
#include "base/map.h"
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

/* How much of a cell is within a time. */
static double part_of_cell(const struct chronicle *t, size_t i, uint64_t from_ns,
			   uint64_t to_ns)
{
	uint64_t begin = chronicle_cell_ns(t, i), end = chronicle_cell_ns(t, i + 1);
	uint64_t from = from_ns > begin ? from_ns : begin, to = to_ns < end ? to_ns : end;

	return to > from ? (double)(to - from) / (double)(end - begin) : 0;
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

/* Requests. */

struct requests {
	struct chronicle_values *to;
	const struct chronicle *chronicle;
	const struct profile *profile;
	size_t source;
	struct map processes; /* pid to the place */
};

static void requests_fini(struct requests *q)
{
	map_fini(&q->processes);
}

static struct chronicle_value *requests_of(struct requests *q,
					   const struct model_process *process)
{
	const struct chronicle *t = q->chronicle;
	bool is_new;
	uint64_t *at = map_slot(&q->processes, process->pid, &is_new);

	if (is_new) {
		*at = q->to->all.n;
		add(q->to, t, "requests", "requests", process);
		for (size_t i = 0; i < t->n_cells; i++)
			q->to->all.at[*at].cells[i] = 0;
	}
	return &q->to->all.at[*at];
}

static int add_request(void *ctx, const struct profile_sample *s, unused struct err *e)
{
	struct requests *q = ctx;
	const struct chronicle *t = q->chronicle;
	uint64_t end_ns = track_end_ns(q->profile, s);
	struct chronicle_value *x;
	size_t i;

	if (profile_column(q->profile, s->column)->source != q->source || !s->process ||
	    !track_is_beside(q->profile, s->column) || end_ns < s->time_ns)
		return 0;
	x = requests_of(q, s->process);
	i = s->time_ns > t->from_ns ? chronicle_cell_at(t, s->time_ns) : 0;
	for (; i < t->n_cells && chronicle_cell_ns(t, i) < end_ns; i++)
		x->cells[i] += part_of_cell(t, i, s->time_ns, end_ns);
	return 0;
}

static bool has_requests(const struct profile *p, size_t source)
{
	for (size_t i = 0; i < profile_n_columns(p); i++)
		if (profile_column(p, i)->source == source && track_is_beside(p, i))
			return true;
	return false;
}

/* How many were under way at a time. */
static int load_requests(struct chronicle_values *v, const struct chronicle *t,
			 const struct profile *p, size_t source, struct err *e)
{
	own(requests_fini) struct requests q = {
		.to = v, .chronicle = t, .profile = p, .source = source
	};
	size_t n = v->all.n;
	int rc = has_requests(p, source) ? profile_each_sample(p, add_request, &q, e) : 0;

	for (; n < v->all.n; n++)
		find_most(&v->all.at[n], t->n_cells);
	return rc;
}

static int most_first(const void *a, const void *b)
{
	const struct chronicle_value *x = a, *y = b;

	return (x->most < y->most) - (x->most > y->most);
}

static void sort_from(struct chronicle_values *v, size_t i)
{
	if (i < v->all.n)
		qsort(v->all.at + i, v->all.n - i, sizeof(*v->all.at), most_first);
}

int chronicle_values_load(struct chronicle_values *v, const struct chronicle *t,
			  const struct profile *p, size_t source, struct err *e)
{
	const struct recording *r = profile_source(p, source);
	int rc = load_heap(v, t, r, e);
	size_t n = v->all.n;

	sort_from(v, 0);
	if (rc == 0)
		rc = load_requests(v, t, p, source, e);
	sort_from(v, n);
	return rc == 0 ? load_gauges(v, t, r, e) : rc;
}
