/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/under.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/metrics.h"
#include "analyze/profile_data.h"
#include "base/mem.h"
#include "base/vec.h"

struct sums {
	const struct profile *p;
	uint32_t *rows; /* [function]: row + 1; 0: it was not chosen */
	VEC(uint32_t) functions;
	uint64_t *exact;
	uint32_t *last_stack; /* [row]: that it was found in, + 1 */
};

static void sums_fini(struct sums *x)
{
	free(x->rows);
	free(x->exact);
	free(x->last_stack);
	vec_fini(&x->functions);
}

static bool is_under(const struct input *s, uint32_t location)
{
	return s->locations[location].flags & LOCATION_UNDER;
}

static uint32_t function_of(const struct sums *x, const struct input *s,
			    uint32_t location, uint32_t i)
{
	return x->p->frames.at[s->first_frame[location] + i].own_function;
}

static void find_functions(struct sums *x, const struct input *s)
{
	for (uint32_t i = 1; i < s->n_stacks; i++) {
		uint32_t l = s->stacks[i].location, f;

		if (!is_under(s, l))
			continue;
		f = function_of(x, s, l, 0);
		if (x->rows[f])
			continue;
		*vec_push(&x->functions) = f;
		x->rows[f] = (uint32_t)x->functions.n;
	}
}

static void add(struct sums *x, const struct input *s, uint32_t stack, uint32_t function)
{
	const uint64_t *weights = input_weights(s, stack);
	uint32_t row = x->rows[function];

	if (!row || x->last_stack[row - 1] == stack + 1)
		return;
	x->last_stack[row - 1] = stack + 1;
	for (uint32_t c = 0; c < s->n_columns; c++)
		x->exact[(row - 1) * x->p->columns.n + s->first_column + c] += weights[c];
}

static void sum_source(struct sums *x, const struct input *s)
{
	memset(x->last_stack, 0, x->functions.n * sizeof(*x->last_stack));
	for (uint32_t i = 1; i < s->n_stacks; i++) {
		uint32_t n_frames;

		if (!input_weights(s, i))
			continue;
		input_frames(s, i, &n_frames);
		for (uint32_t k = 0; k < n_frames; k++)
			add(x, s, i, function_of(x, s, s->stacks[i].location, k));
		for (uint32_t at = s->stacks[i].parent; at; at = s->stacks[at].parent)
			add(x, s, i, function_of(x, s, s->stacks[at].location, 0));
	}
}

static uint64_t *by_calls(const struct sums *x)
{
	size_t n = x->p->columns.n;
	uint64_t *values = xcalloc(x->functions.n * n + 1, sizeof(*values));
	own(metrics_fini) struct metrics m = { 0 };

	metrics_sum(&m, x->p, NULL, 0);
	for (size_t i = 0; i < x->functions.n; i++)
		memcpy(values + i * n, m.inclusive + x->functions.at[i] * n,
		       n * sizeof(*values));
	return values;
}

void under_sum(struct under *ret, const struct profile *p)
{
	own(sums_fini) struct sums x = { .p = p };

	*ret = (struct under){ .n_columns = p->columns.n };
	x.rows = xcalloc(p->functions.n + 1, sizeof(*x.rows));
	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].call_shares)
			find_functions(&x, &p->sources[i]);
	if (!x.functions.n)
		return;
	x.exact = xcalloc(x.functions.n * p->columns.n + 1, sizeof(*x.exact));
	x.last_stack = xcalloc(x.functions.n, sizeof(*x.last_stack));
	for (size_t i = 0; i < p->n_sources; i++)
		if (p->sources[i].call_shares)
			sum_source(&x, &p->sources[i]);
	ret->by_calls = by_calls(&x);
	ret->n = x.functions.n;
	ret->functions = x.functions.at;
	x.functions.at = NULL;
	ret->exact = x.exact;
	x.exact = NULL;
}

void under_fini(struct under *u)
{
	free(u->functions);
	free(u->exact);
	free(u->by_calls);
}
