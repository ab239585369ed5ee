/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/chronicle.h"

#include <math.h>
#include <stdlib.h>

#include "analyze/chronicle_place.h"
#include "analyze/chronicle_sums.h"
#include "analyze/profile_data.h"
#include "analyze/time_column.h"
#include "analyze/track.h"
#include "base/map.h"
#include "base/mem.h"

struct loading {
	struct chronicle *to;
	const struct profile *profile;
	enum chronicle_kind *kinds; /* by column */
	bool runs_in_regions;
	double cycle_ns;
	struct map threads; /* pid and tid to the place; at last of those with cells */
	struct chronicle_sums sums;
	struct chronicle_place place;
};

static void loading_fini(struct loading *l)
{
	free(l->kinds);
	map_fini(&l->threads);
	chronicle_sums_fini(&l->sums);
	chronicle_place_fini(&l->place);
}

void chronicle_fini(struct chronicle *t)
{
	vec_each(x, &t->threads)
		free(x->cells);
	vec_fini(&t->threads);
}

uint64_t chronicle_cell_ns(const struct chronicle *t, size_t i)
{
	double share = (double)i / (double)t->n_cells;

	/* The longest time there is would be rounded to more than there is. */
	if (i >= t->n_cells)
		return t->to_ns;
	return t->from_ns + (uint64_t)(share * (double)(t->to_ns - t->from_ns));
}

size_t chronicle_cell_at(const struct chronicle *t, uint64_t time_ns)
{
	double cell_ns = (double)(t->to_ns - t->from_ns) / (double)t->n_cells;
	size_t i;

	if (time_ns < t->from_ns || time_ns > t->to_ns)
		return t->n_cells;
	i = (size_t)((double)(time_ns - t->from_ns) / cell_ns);
	return i < t->n_cells ? i : t->n_cells - 1;
}

enum chronicle_kind chronicle_most(const double *ns)
{
	enum chronicle_kind best = CHRONICLE_NONE;

	for (enum chronicle_kind k = 0; k < CHRONICLE_N_KINDS; k++)
		if (ns[k] > 0 && (best == CHRONICLE_NONE || ns[k] > ns[best]))
			best = k;
	return best;
}

uint64_t chronicle_whole(double value)
{
	return value < 0x1p64 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

/* What a sample stands for. */

struct span {
	uint64_t from_ns, to_ns;
	double ns; /* of it, a part was spent so */
};

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* What is longer than the time that it may be of began before it, and was over before
 * what else the thread did meanwhile. */
static struct span sum_of(const struct loading *l, const struct profile_sample *s,
			  double ns)
{
	uint64_t start_ns = later(s->process->start_ns, s->thread->start_ns);
	struct span ret = { .from_ns = later(chronicle_sums_since(&l->sums, s), start_ns),
			    .to_ns = profile_sample_end_ns(s),
			    .ns = ns };
	double rest_ns;

	if (ret.to_ns <= ret.from_ns)
		ret.to_ns = s->time_ns;
	if ((double)ret.from_ns + ns <= (double)ret.to_ns)
		return ret;
	rest_ns = chronicle_sums_rest_ns(&l->sums, s);
	if (ret.to_ns > ret.from_ns)
		ret.to_ns = rest_ns < (double)(ret.to_ns - ret.from_ns)
				    ? ret.to_ns - (uint64_t)rest_ns
				    : ret.from_ns;
	ret.from_ns = ns < (double)ret.to_ns ? ret.to_ns - (uint64_t)ns : 0;
	return ret;
}

static struct span span_of(const struct loading *l, const struct profile_sample *s)
{
	bool is_cycles = time_column_is_cycles(l->profile, s->column);
	double ns = (double)s->weight * (is_cycles ? l->cycle_ns : 1);
	uint64_t end_ns = is_cycles ? s->time_ns : track_end_ns(l->profile, s);

	if (track_flags(l->profile, s->column) & EVENT_SUMMED)
		return sum_of(l, s, ns);
	return (struct span){ ns < (double)end_ns ? end_ns - (uint64_t)ns : 0, end_ns,
			      ns };
}

/* Threads. */

static uint64_t thread_key(const struct model_process *process,
			   const struct model_thread *thread)
{
	return (uint64_t)process->pid << 32 | thread->tid;
}

static struct chronicle_thread *thread_of(struct loading *l,
					  const struct profile_sample *s)
{
	bool is_new;
	uint64_t *at = map_slot(&l->threads, thread_key(s->process, s->thread), &is_new);
	struct chronicle_thread *ret;

	if (is_new) {
		*at = l->to->threads.n;
		vec_push(&l->to->threads);
	}
	ret = &l->to->threads.at[*at];
	ret->process = s->process;
	ret->thread = s->thread;
	return ret;
}

/* How long the sample's thread did so within a time. */
static double part_ns(const struct span *x, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t from = later(x->from_ns, from_ns);
	uint64_t to = x->to_ns < to_ns ? x->to_ns : to_ns;

	return to > from ? (double)(to - from) * x->ns / (double)(x->to_ns - x->from_ns)
			 : 0;
}

static bool is_drawn(const struct loading *l, const struct profile_sample *s)
{
	return l->kinds[s->column] != CHRONICLE_NONE && s->process && s->thread;
}

/* First, how long each thread did what: who has cells is not known before. */
static int sum_sample(void *ctx, const struct profile_sample *s, unused struct err *e)
{
	struct loading *l = ctx;
	enum chronicle_kind kind = l->kinds[s->column];
	struct span x;

	if (!is_drawn(l, s))
		return 0;
	x = span_of(l, s);
	l->to->has_kind[kind] = true;
	if (x.to_ns > x.from_ns && x.to_ns > l->to->from_ns && x.from_ns < l->to->to_ns)
		thread_of(l, s)->ns[kind] += part_ns(&x, l->to->from_ns, l->to->to_ns);
	return 0;
}

static void spread(struct loading *l, const struct profile_sample *s, size_t thread,
		   const struct span *x)
{
	const struct chronicle *t = l->to;
	enum chronicle_kind kind = l->kinds[s->column];
	struct chronicle_cell *cells = t->threads.at[thread].cells;
	uint32_t first = (uint32_t)(thread * t->n_cells);
	uint32_t stack = kind == CHRONICLE_RUN ? chronicle_place_stack(&l->place, s) : 0;
	size_t i = x->from_ns > t->from_ns ? chronicle_cell_at(t, x->from_ns) : 0;

	for (; i < t->n_cells && chronicle_cell_ns(t, i) < x->to_ns; i++) {
		double ns =
			part_ns(x, chronicle_cell_ns(t, i), chronicle_cell_ns(t, i + 1));

		cells[i].ns[kind] += ns;
		if (kind == CHRONICLE_RUN && ns > 0)
			chronicle_place_add(&l->place, first + (uint32_t)i, stack, ns);
	}
}

static int spread_sample(void *ctx, const struct profile_sample *s, unused struct err *e)
{
	struct loading *l = ctx;
	const uint64_t *at =
		is_drawn(l, s) ? map_find(&l->threads, thread_key(s->process, s->thread))
			       : NULL;
	struct span x;

	if (!at)
		return 0;
	x = span_of(l, s);
	if (x.to_ns > x.from_ns && x.to_ns > l->to->from_ns && x.from_ns < l->to->to_ns)
		spread(l, s, (size_t)*at, &x);
	return 0;
}

static void set_function(void *ctx, uint32_t cell, uint32_t function, double ns)
{
	struct chronicle *t = ctx;
	struct chronicle_cell *c =
		&t->threads.at[cell / t->n_cells].cells[cell % t->n_cells];

	c->function = function;
	c->function_ns = ns;
}

static int busiest_first(const void *a, const void *b)
{
	const struct chronicle_thread *x = a, *y = b;

	for (enum chronicle_kind k = 0; k < CHRONICLE_N_KINDS; k++)
		if (x->ns[k] != y->ns[k])
			return x->ns[k] > y->ns[k] ? -1 : 1;
	return (x->thread->tid > y->thread->tid) - (x->thread->tid < y->thread->tid);
}

/* Cells for the busiest. */
static void choose(struct loading *l, size_t n_threads)
{
	struct chronicle *t = l->to;

	vec_each(x, &t->threads)
		chronicle_kind_refine(x->ns, l->runs_in_regions);
	if (t->threads.n)
		qsort(t->threads.at, t->threads.n, sizeof(*t->threads.at), busiest_first);
	map_clear(&l->threads);
	for (size_t i = 0; i < t->threads.n && i < n_threads; i++) {
		struct chronicle_thread *x = &t->threads.at[i];

		x->cells = xcalloc(t->n_cells, sizeof(*x->cells));
		for (size_t k = 0; k < t->n_cells; k++)
			x->cells[k].function = MODEL_NONE;
		*map_slot(&l->threads, thread_key(x->process, x->thread), NULL) = i;
	}
}

/* Whoever only waits in a function does not run there. */
static void finish_cell(const struct loading *l, struct chronicle_cell *c)
{
	chronicle_kind_refine(c->ns, l->runs_in_regions);
	c->function_ns = fmin(c->function_ns, c->ns[CHRONICLE_RUN]);
	if (c->function_ns <= 0)
		c->function = MODEL_NONE;
}

static void finish(struct loading *l)
{
	struct chronicle *t = l->to;

	chronicle_place_find(&l->place, set_function, t);
	vec_each(x, &t->threads)
		for (size_t i = 0; x->cells && i < t->n_cells; i++)
			finish_cell(l, &x->cells[i]);
}

/* Of the processor that the recording was made on. */
static double cycle_ns(const struct recording *r)
{
	const char *mhz = recording_info(r, "clock-mhz");
	double value = mhz ? strtod(mhz, NULL) : 0;

	return value > 0 ? 1e3 / value : 1;
}

static int set_range(struct chronicle *t, const struct input *s,
		     const struct chronicle_range *range, struct err *e)
{
	if (s->end_ns <= s->start_ns)
		return err_set(e, ERR_UNSUPPORTED,
			       "nothing in the recording tells when something was");
	t->n_cells = range->n_cells;
	t->from_ns = s->start_ns + range->from_ns;
	t->to_ns = s->end_ns;
	if (range->to_ns && range->to_ns < s->end_ns - s->start_ns)
		t->to_ns = s->start_ns + range->to_ns;
	if (range->from_ns >= s->end_ns - s->start_ns || t->from_ns >= t->to_ns)
		return err_set(e, ERR_USAGE,
			       "there is no time between the beginning and the end of "
			       "what is asked for");
	return 0;
}

int chronicle_load(struct chronicle *t, const struct profile *p, size_t source,
		   const struct chronicle_range *range, size_t n_threads, struct err *e)
{
	own(loading_fini) struct loading l = {
		.to = t,
		.profile = p,
		.kinds = chronicle_kind_of_columns(p, source),
		.cycle_ns = cycle_ns(profile_source(p, source)),
	};
	int rc;

	*t = (struct chronicle){ 0 };
	l.runs_in_regions = chronicle_kind_runs_in_regions(p, l.kinds);
	chronicle_place_init(&l.place);
	rc = set_range(t, &p->sources[source], range, e);
	if (rc == 0)
		rc = chronicle_sums_load(&l.sums, p, source, l.kinds, e);
	if (rc == 0)
		rc = profile_each_sample(p, sum_sample, &l, e);
	if (rc == 0) {
		choose(&l, n_threads);
		rc = profile_each_sample(p, spread_sample, &l, e);
	}
	if (rc == 0)
		finish(&l);
	return rc;
}
