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
	double *at;   /* [window]: the sampled time before it */
	double *near; /* [window * LENGTHS + length] */
	double unit;  /* of native time, that was sampled */
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
	double gap_ns = m->rows->windows.at[window + is_behind].before_ns;
	bool is_end = is_behind ? window + 1 == m->rows->n_windows : window == 0;

	return fmin(lengths_ns[length], is_end ? gap_ns : gap_ns / 2) * m->unit;
}

static void place_windows(struct making *m)
{
	double at = 0;

	for (uint32_t i = 0; i < m->rows->n_windows; i++) {
		at += m->rows->windows.at[i].before_ns * m->unit;
		m->at[i] = at;
		for (int k = 0; k < ANCHOR_TIMES_LENGTHS; k++)
			m->near[i * ANCHOR_TIMES_LENGTHS + (uint32_t)k] =
				reach(m, i, k, false) + reach(m, i, k, true);
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
		of[k].natively += (double)s->weight / m->unit;
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
	own(making_fini) struct making m = {
		.to = ret,
		.leaders = l,
		.rows = rows,
		.at = xcalloc(n + 1, sizeof(*m.at)),
		.near = xcalloc((size_t)n * ANCHOR_TIMES_LENGTHS + 1, sizeof(*m.near)),
		.unit = program->sampled_ns / rows->native_ns,
	};
	double at = 0;

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
