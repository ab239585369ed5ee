/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_times.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/anchor_leaders.h"
#include "analyze/anchor_programs.h"
#include "analyze/anchor_rows.h"
#include "base/mem.h"
#include "base/own.h"

/* Native time on each side of a window. */
static const double lengths_ns[ANCHOR_TIMES_LENGTHS] = { 2e7, 8e7, 32e7 };

/* Where windows were in the sampled time, and how much of that is near them. */
struct making {
	struct anchor_times *to;
	const struct anchor_leaders *leaders;
	const struct anchor_rows *rows;
	double *at;	  /* [window]: the sampled time before it */
	double *near;	  /* [window * LENGTHS + length] */
	double *unit;	  /* [run]: of native time, that was sampled */
	double *run_at;	  /* [run]: the sampled time before it */
	uint32_t *run_of; /* [window] */
};

void anchor_times_fini(struct anchor_times *t)
{
	map_fini(&t->of_function);
	vec_fini(&t->at);
}

static void making_fini(struct making *m)
{
	free(m->at);
	free(m->near);
	free(m->unit);
	free(m->run_at);
	free(m->run_of);
}

static size_t function_of(struct anchor_times *t, uint64_t key)
{
	bool is_new;
	uint64_t *number = map_slot(&t->of_function, key, &is_new);

	if (is_new) {
		*number = t->at.n / ANCHOR_TIMES_LENGTHS;
		for (int i = 0; i < ANCHOR_TIMES_LENGTHS; i++)
			*vec_push(&t->at) = (struct anchor_leader){ 0 };
	}
	return *number;
}

/* No further than half of the way to the next window. */
static double reach(const struct making *m, uint32_t window, int length, bool is_behind)
{
	const struct anchor_window *w = &m->rows->windows.at[window];

	return fmin(lengths_ns[length], is_behind ? w->own_behind_ns : w->own_before_ns) *
	       m->unit[m->run_of[window]];
}

/* Where nothing is known of a run's native time, as in all. */
static void measure_runs(struct making *m, const struct anchor_program *program)
{
	double at = 0;

	for (size_t i = 0; i < m->rows->runs.n; i++) {
		double native_ns = m->rows->runs.at[i].native_ns,
		       sampled_ns = program->in_runs[i].sampled_ns;

		m->unit[i] = native_ns > 0 && sampled_ns > 0
				     ? sampled_ns / native_ns
				     : program->sampled_ns / m->rows->native_ns;
		m->run_at[i] = at;
		at += sampled_ns;
	}
}

static void place_windows(struct making *m)
{
	for (uint32_t run = 0; run < m->rows->runs.n; run++) {
		const struct anchor_rows_run *r = &m->rows->runs.at[run];
		double at = m->run_at[run];

		for (uint32_t n = 0, i = r->first_window; n < r->n_windows; n++, i++) {
			double before_ns = m->rows->windows.at[i].before_ns;

			m->run_of[i] = run;
			at += (n ? before_ns : r->first_ns) * m->unit[run];
			m->at[i] = at;
			for (int k = 0; k < ANCHOR_TIMES_LENGTHS; k++)
				m->near[i * ANCHOR_TIMES_LENGTHS + (uint32_t)k] =
					reach(m, i, k, false) + reach(m, i, k, true);
		}
	}
}

/* What is near a window stands for as much as all that is near it together. */
static void add_near(struct making *m, struct anchor_leader *of,
		     const struct anchor_program_sample *s, double at, uint32_t window)
{
	const double *near = &m->near[(size_t)window * ANCHOR_TIMES_LENGTHS];
	double middle = m->at[window], weight = (double)s->weight;
	uint32_t group = anchor_leaders_group(m->leaders, window);

	for (int k = 0; k < ANCHOR_TIMES_LENGTHS; k++) {
		double from = fmax(at, middle - reach(m, window, k, false)),
		       to = fmin(at + weight, middle + reach(m, window, k, true)), ns;

		if (to <= from)
			continue;
		ns = (to - from) * m->rows->windows.at[window].stands_ns / near[k];
		of[k].counted[group] += ns;
		of[k].all_counted += ns;
		of[k].met += s->count * (to - from) / weight;
	}
}

/* Which was taken of the time from that on; *first: a window that may be near. */
static void add_sample(struct making *m, const struct anchor_program_sample *s,
		       uint32_t *first, double at)
{
	size_t function = function_of(m->to, s->function);
	struct anchor_leader *of = &m->to->at.at[function * ANCHOR_TIMES_LENGTHS];
	uint32_t n = m->rows->n_windows;
	int longest = ANCHOR_TIMES_LENGTHS - 1;

	for (int k = 0; k < ANCHOR_TIMES_LENGTHS; k++) {
		of[k].natively += (double)s->weight / m->unit[s->run];
		of[k].hits += s->count;
	}
	while (*first < n && m->at[*first] + reach(m, *first, longest, true) <= at)
		++*first;
	for (uint32_t i = *first; i < n; i++) {
		if (m->at[i] - reach(m, i, longest, false) >= at + (double)s->weight)
			break;
		add_near(m, of, s, at, i);
	}
}

/* Samples are as few as they are. */
static void finish(struct anchor_leader *l, double native_ns)
{
	l->cpu_ns = native_ns;
	l->is_own_time = true;
	l->variance = l->met > 0 ? 1 / l->hits + 1 / l->met : INFINITY;
}

void anchor_times_make(struct anchor_times *ret, const struct anchor_program *program,
		       const struct anchor_rows *rows, const struct anchor_leaders *l)
{
	uint32_t n = rows->n_windows, first = 0;
	size_t n_runs = rows->runs.n;
	own(making_fini) struct making m = {
		.to = ret,
		.leaders = l,
		.rows = rows,
		.at = xcalloc(n + 1, sizeof(*m.at)),
		.near = xcalloc((size_t)n * ANCHOR_TIMES_LENGTHS + 1, sizeof(*m.near)),
		.unit = xcalloc(n_runs + 1, sizeof(*m.unit)),
		.run_at = xcalloc(n_runs + 1, sizeof(*m.run_at)),
		.run_of = xcalloc(n + 1, sizeof(*m.run_of)),
	};
	double at = 0;

	measure_runs(&m, program);
	place_windows(&m);
	vec_each(s, &program->samples) {
		add_sample(&m, s, &first, at);
		at += (double)s->weight;
	}
	vec_each(x, &ret->at)
		finish(x, rows->native_ns);
}

const struct anchor_leader *anchor_times_find(const struct anchor_times *t,
					      uint32_t sym_image, uint64_t start)
{
	const uint64_t *number =
		map_find(&t->of_function, anchor_programs_function(sym_image, start));

	return number ? &t->at.at[*number * ANCHOR_TIMES_LENGTHS] : NULL;
}
