/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/metrics.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/call_shares.h"
#include "analyze/profile_data.h"
#include "analyze/walk.h"
#include "base/mem.h"

#define MANY_STACKS 4096 /* worth a second thread */

void metrics_fini(struct metrics *m)
{
	free(m->exclusive);
	free(m->inclusive);
	free(m->exclusive_counts);
	*m = (struct metrics){ 0 };
}

static struct metrics metrics_of(size_t n_rows, size_t n_columns)
{
	size_t n = n_rows * n_columns + 1;

	return (struct metrics){
		.n_rows = n_rows,
		.n_columns = n_columns,
		.exclusive = xcalloc(n, sizeof(uint64_t)),
		.inclusive = xcalloc(n, sizeof(uint64_t)),
		.exclusive_counts = xcalloc(n, sizeof(uint64_t)),
	};
}

static void add(uint64_t *to, const uint64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		to[i] += from[i];
}

static void add_metrics(struct metrics *to, const struct metrics *from)
{
	size_t n = to->n_rows * to->n_columns;

	add(to->exclusive, from->exclusive, n);
	add(to->inclusive, from->inclusive, n);
	add(to->exclusive_counts, from->exclusive_counts, n);
}

/* Walking down, `running` is what was counted so far.  A row's outermost occurrence
 * notes it on the way in; on the way out the difference is what lies below, counted
 * once however often the row occurs in between.  So differences may be taken over any
 * part of the order: those of all parts add up. */
struct pass {
	const struct input *source;
	struct metrics *to;
	const uint32_t *row_of_frame;
	uint32_t *depth;  /* [row]: occurrences on the path */
	uint64_t *before; /* [row * n + column]: running when it was entered */
	uint64_t *running;
	uint32_t n, first; /* columns of this source */
	size_t from, end;  /* its part of the order */
};

static struct pass pass_over(const struct input *s, size_t from, size_t end,
			     const uint32_t *row_of_frame, struct metrics *to)
{
	return (struct pass){
		.source = s,
		.to = to,
		.row_of_frame = row_of_frame,
		.depth = xcalloc(to->n_rows + 1, sizeof(uint32_t)),
		.before = xcalloc(to->n_rows * s->n_columns + 1, sizeof(uint64_t)),
		.running = xcalloc(s->n_columns + 1, sizeof(uint64_t)),
		.n = s->n_columns,
		.first = s->first_column,
		.from = from,
		.end = end,
	};
}

static void pass_fini(struct pass *p)
{
	free(p->depth);
	free(p->before);
	free(p->running);
}

/* The innermost row, MODEL_NONE when there is none. */
static uint32_t enter_frames(struct pass *p, uint32_t stack)
{
	uint32_t n_frames, first = input_frames(p->source, stack, &n_frames);
	uint32_t row = MODEL_NONE;

	for (uint32_t i = first; i < first + n_frames; i++) {
		row = p->row_of_frame[i];
		if (row == MODEL_NONE || p->depth[row]++)
			continue;
		for (uint32_t c = 0; c < p->n; c++)
			p->before[(size_t)row * p->n + c] = p->running[c];
	}
	return row;
}

static void enter(struct pass *p, uint32_t stack)
{
	const uint64_t *weights = input_weights(p->source, stack);
	const uint64_t *counts = input_counts(p->source, stack);
	uint32_t row = enter_frames(p, stack);

	for (uint32_t c = 0; weights && c < p->n; c++) {
		p->running[c] += weights[c];
		if (row == MODEL_NONE)
			continue;

		size_t at = (size_t)row * p->to->n_columns + p->first + c;

		p->to->exclusive[at] += weights[c];
		p->to->exclusive_counts[at] += counts[c];
	}
}

static void leave(struct pass *p, uint32_t stack)
{
	uint32_t n_frames, first = input_frames(p->source, stack, &n_frames);

	for (uint32_t i = first; i < first + n_frames; i++) {
		uint32_t row = p->row_of_frame[i];

		if (row == MODEL_NONE || --p->depth[row])
			continue;

		size_t at = (size_t)row * p->to->n_columns + p->first;

		for (uint32_t c = 0; c < p->n; c++)
			p->to->inclusive[at + c] +=
				p->running[c] - p->before[(size_t)row * p->n + c];
	}
}

static void *sum_part(void *arg)
{
	struct pass *p = arg;
	struct walk w = walk_over_part(p->source, p->from, p->end);

	/* What is above was not counted yet, so it does not matter in which order. */
	for (uint32_t above = w.stack; above; above = p->source->stacks[above].parent)
		enter_frames(p, above);
	for (enum walk_step step; (step = walk_next(&w)) != WALK_END;) {
		if (step == WALK_ENTER)
			enter(p, w.stack);
		else
			leave(p, w.stack);
	}
	return NULL;
}

/* The second half of many stacks in a thread and with sums of its own. */
static void sum_halves(struct metrics *to, const struct input *s,
		       const uint32_t *row_of_frame)
{
	struct metrics other = metrics_of(to->n_rows, to->n_columns);
	size_t middle = s->n_ordered / 2;
	own(pass_fini) struct pass first = pass_over(s, 0, middle, row_of_frame, to);
	own(pass_fini) struct pass second =
		pass_over(s, middle, s->n_ordered, row_of_frame, &other);
	pthread_t thread;
	bool has_thread = pthread_create(&thread, NULL, sum_part, &second) == 0;

	sum_part(&first);
	if (has_thread)
		pthread_join(thread, NULL);
	else
		sum_part(&second);
	add_metrics(to, &other);
	metrics_fini(&other);
}

static bool is_row_of(const struct input *s, const uint32_t *row_of_frame,
		      uint32_t location, uint32_t end, uint32_t row)
{
	uint32_t first = s->first_frame[location];

	for (uint32_t i = first; i < first + end; i++)
		if (row_of_frame[i] == row)
			return true;
	return false;
}

/* To each row that the call is in, but for those that it does not leave. */
static void sum_call(struct metrics *to, const struct input *s,
		     const uint32_t *row_of_frame, const struct call_shares_site *x,
		     const double *values)
{
	uint32_t first = s->first_frame[x->location];
	uint32_t called = row_of_frame[s->first_frame[x->entry]];

	for (uint32_t i = 0; i < s->n_frames[x->location]; i++) {
		uint32_t row = row_of_frame[first + i];
		size_t at = (size_t)row * to->n_columns + s->first_column;

		if (row == MODEL_NONE || row == called ||
		    is_row_of(s, row_of_frame, x->location, i, row))
			continue;
		for (size_t c = 0; c < s->n_columns; c++)
			to->inclusive[at + c] += (uint64_t)llround(values[c]);
	}
}

/* What is counted exactly has calls instead of stacks. */
static void sum_calls(struct metrics *to, const struct input *s,
		      const uint32_t *row_of_frame)
{
	own(freep) double *values = xcalloc(s->n_columns + 1, sizeof(*values));

	for (size_t i = 0; i < call_shares_n_sites(s->call_shares); i++) {
		call_shares_values(s->call_shares, i, values);
		sum_call(to, s, row_of_frame, call_shares_site(s->call_shares, i),
			 values);
	}
}

static void sum_source(struct metrics *to, const struct input *s,
		       const uint32_t *row_of_frame)
{
	if (s->call_shares)
		sum_calls(to, s, row_of_frame);
	if (s->n_ordered >= MANY_STACKS) {
		sum_halves(to, s, row_of_frame);
		return;
	}

	own(pass_fini) struct pass all = pass_over(s, 0, s->n_ordered, row_of_frame, to);

	sum_part(&all);
}

static uint32_t *functions_as_rows(const struct profile *p)
{
	uint32_t *rows = xcalloc(p->frames.n + 1, sizeof(*rows));

	for (size_t i = 0; i < p->frames.n; i++)
		rows[i] = p->frames.at[i].function;
	return rows;
}

void metrics_sum(struct metrics *ret, const struct profile *p,
		 const uint32_t *row_of_frame, size_t n_rows)
{
	own(freep) uint32_t *functions = NULL;

	if (!row_of_frame) {
		row_of_frame = functions = functions_as_rows(p);
		n_rows = p->functions.n;
	}

	*ret = metrics_of(n_rows, p->columns.n);
	for (size_t i = 0; i < p->n_sources && n_rows; i++)
		sum_source(ret, &p->sources[i], row_of_frame);
}

/* Edges by function while they are being summed. */
struct edges {
	struct map index; /* function to position + 1 */
	VEC(uint32_t) functions;
	VEC(uint64_t) values;
	size_t n_columns;
};

static uint64_t *edge_values(struct edges *e, uint32_t function)
{
	uint64_t *at = map_slot(&e->index, function, NULL);

	if (!*at) {
		*vec_push(&e->functions) = function;
		*at = e->functions.n;
		for (size_t c = 0; c < e->n_columns; c++)
			*vec_push(&e->values) = 0;
	}
	return e->values.at + (*at - 1) * e->n_columns;
}

static void edges_fini(struct edges *e)
{
	map_fini(&e->index);
	vec_fini(&e->functions);
	vec_fini(&e->values);
}

struct attribution {
	struct metrics_butterfly *to;
	struct edges callers, callees;
	const uint32_t *function_of_frame;
	VEC(uint32_t) path;	 /* functions, outermost first */
	VEC(size_t) occurrences; /* positions of the function on the path */
	uint32_t function;
};

static void attribute_stack(struct attribution *a, const struct input *s,
			    const uint64_t *weights)
{
	size_t at = a->occurrences.at[a->occurrences.n - 1], f = s->first_column;
	uint32_t caller = at ? a->path.at[at - 1] : METRICS_TOTAL;

	add(a->to->inclusive + f, weights, s->n_columns);
	add(edge_values(&a->callers, caller) + f, weights, s->n_columns);
	if (at + 1 == a->path.n)
		add(a->to->exclusive + f, weights, s->n_columns);
	else
		add(edge_values(&a->callees, a->path.at[at + 1]) + f, weights,
		    s->n_columns);
}

static void attribute_enter(struct attribution *a, const struct input *s, uint32_t stack)
{
	const uint64_t *weights = input_weights(s, stack);
	uint32_t n, first = input_frames(s, stack, &n);

	for (uint32_t i = first; i < first + n; i++) {
		if (a->function_of_frame[i] == a->function)
			*vec_push(&a->occurrences) = a->path.n;
		*vec_push(&a->path) = a->function_of_frame[i];
	}
	if (weights && a->occurrences.n)
		attribute_stack(a, s, weights);
}

static void attribute_leave(struct attribution *a, const struct input *s, uint32_t stack)
{
	uint32_t n;

	input_frames(s, stack, &n);
	a->path.n -= n;
	while (a->occurrences.n && a->occurrences.at[a->occurrences.n - 1] >= a->path.n)
		a->occurrences.n--;
}

static void attribute_source(struct attribution *a, const struct input *s)
{
	struct walk w = walk_over(s);

	for (enum walk_step step; (step = walk_next(&w)) != WALK_END;) {
		if (step == WALK_ENTER)
			attribute_enter(a, s, w.stack);
		else
			attribute_leave(a, s, w.stack);
	}
}

/* A call is a stack that ends in what it calls. */
static void attribute_call(struct attribution *a, const struct input *s,
			   const struct call_shares_site *x, const uint64_t *values)
{
	uint32_t first = s->first_frame[x->location], n = s->n_frames[x->location];
	uint32_t at = MODEL_NONE;

	for (uint32_t i = 0; i < n; i++)
		if (a->function_of_frame[first + i] == a->function)
			at = i;
	if (at == MODEL_NONE || x->callee == a->function)
		return;
	add(a->to->inclusive + s->first_column, values, s->n_columns);
	add(edge_values(&a->callers,
			at ? a->function_of_frame[first + at - 1] : METRICS_TOTAL) +
		    s->first_column,
	    values, s->n_columns);
	add(edge_values(&a->callees,
			at + 1 < n ? a->function_of_frame[first + at + 1] : x->callee) +
		    s->first_column,
	    values, s->n_columns);
}

/* What nothing on a stack is charged with, is with those that called it. */
static void attribute_caller(struct attribution *a, const struct input *s,
			     const struct call_shares_site *x, const double *values)
{
	uint32_t last = s->first_frame[x->location] + s->n_frames[x->location] - 1;
	uint64_t *to = edge_values(&a->callers, a->function_of_frame[last]);
	uint64_t *rest = edge_values(&a->callers, METRICS_TOTAL);

	to = edge_values(&a->callers, a->function_of_frame[last]); /* it may have moved */
	for (size_t c = 0; c < s->n_columns; c++) {
		size_t at = s->first_column + c;
		uint64_t value = (uint64_t)llround(values[c]);

		value = value < rest[at] ? value : rest[at];
		to[at] += value;
		rest[at] -= value;
	}
}

static void attribute_calls(struct attribution *a, const struct input *s)
{
	own(freep) double *values = xcalloc(s->n_columns + 1, sizeof(*values));
	own(freep) uint64_t *whole = xcalloc(s->n_columns + 1, sizeof(*whole));

	for (size_t i = 0; i < call_shares_n_sites(s->call_shares); i++) {
		call_shares_values(s->call_shares, i, values);
		for (size_t c = 0; c < s->n_columns; c++)
			whole[c] = (uint64_t)llround(values[c]);
		attribute_call(a, s, call_shares_site(s->call_shares, i), whole);
	}
	for (size_t i = 0; i < call_shares_n_sites(s->call_shares); i++) {
		const struct call_shares_site *x = call_shares_site(s->call_shares, i);

		if (x->callee != a->function)
			continue;
		call_shares_taken(s->call_shares, i, values);
		attribute_caller(a, s, x, values);
	}
}

static struct metrics_edge *edges_take(const struct edges *e, uint64_t *values)
{
	struct metrics_edge *edges = xcalloc(e->functions.n + 1, sizeof(*edges));

	if (e->values.n)
		memcpy(values, e->values.at, e->values.n * sizeof(*values));
	for (size_t i = 0; i < e->functions.n; i++)
		edges[i] = (struct metrics_edge){ e->functions.at[i],
						  values + i * e->n_columns };
	return edges;
}

void metrics_attribute(struct metrics_butterfly *ret, const struct profile *p,
		       uint32_t function)
{
	size_t n = p->columns.n;
	own(freep) uint32_t *functions = functions_as_rows(p);
	struct attribution a = { .to = ret,
				 .function = function,
				 .function_of_frame = functions,
				 .callers.n_columns = n,
				 .callees.n_columns = n };

	*ret = (struct metrics_butterfly){
		.n_columns = n,
		.exclusive = xcalloc(n + 1, sizeof(uint64_t)),
		.inclusive = xcalloc(n + 1, sizeof(uint64_t)),
	};
	for (size_t i = 0; i < p->n_sources; i++) {
		attribute_source(&a, &p->sources[i]);
		if (p->sources[i].call_shares)
			attribute_calls(&a, &p->sources[i]);
	}
	ret->values =
		xcalloc(a.callers.values.n + a.callees.values.n + 1, sizeof(uint64_t));
	ret->n_callers = a.callers.functions.n;
	ret->n_callees = a.callees.functions.n;
	ret->callers = edges_take(&a.callers, ret->values);
	ret->callees = edges_take(&a.callees, ret->values + a.callers.values.n);
	edges_fini(&a.callers);
	edges_fini(&a.callees);
	vec_fini(&a.path);
	vec_fini(&a.occurrences);
}

void metrics_butterfly_fini(struct metrics_butterfly *b)
{
	free(b->exclusive);
	free(b->inclusive);
	free(b->callers);
	free(b->callees);
	free(b->values);
	*b = (struct metrics_butterfly){ 0 };
}
