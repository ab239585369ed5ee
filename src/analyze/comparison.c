/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/ideal.h"
#include "analyze/time_column.h"
#include "base/mem.h"

/* The column of a source that counts what another column does, or SIZE_MAX. */
static size_t counterpart(const struct profile *p, size_t column, size_t source,
			  const size_t *shown, size_t n_shown)
{
	const struct profile_column *want = profile_column(p, column);

	for (size_t i = 0; i < n_shown; i++) {
		const struct profile_column *c = profile_column(p, shown[i]);

		if (c->source == source && strcmp(c->name, want->name) == 0 &&
		    strcmp(c->unit, want->unit) == 0)
			return shown[i];
	}
	return SIZE_MAX;
}

static bool add_event(struct comparison *c, const struct profile *p, size_t column,
		      const size_t *shown, size_t n_shown)
{
	size_t *to = c->columns + c->n_events * c->n_sources;

	for (size_t i = 0; i < c->n_sources; i++) {
		to[i] = counterpart(p, column, i, shown, n_shown);
		if (to[i] == SIZE_MAX)
			return false;
	}
	return true;
}

void comparison_find(struct comparison *ret, const struct profile *p, const size_t *shown,
		     size_t n_shown)
{
	struct comparison c = { .n_sources = profile_n_sources(p) };

	c.columns = xcalloc(n_shown * c.n_sources + 1, sizeof(*c.columns));
	for (size_t i = 0; i < n_shown && c.n_sources > 1; i++)
		if (profile_column(p, shown[i])->source == 0)
			c.n_events += add_event(&c, p, shown[i], shown, n_shown);
	*ret = c;
}

bool comparison_find_ideal(struct comparison *ret, const struct profile *p)
{
	size_t ideal = SIZE_MAX, sampled = SIZE_MAX;

	for (size_t i = profile_n_columns(p); i-- > 0;) {
		const struct profile_column *c = profile_column(p, i);

		if (strcmp(c->name, IDEAL_NAME) == 0)
			ideal = i;
		else if (time_column_is_cpu(p, i) && comparison_sample_weight(c) > 0)
			sampled = i;
	}
	*ret = (struct comparison){ 0 };
	if (ideal == SIZE_MAX || sampled == SIZE_MAX)
		return false;
	*ret = (struct comparison){ .n_sources = 2, .n_events = 1, .is_ideal = true };
	ret->columns = xcalloc(2, sizeof(*ret->columns));
	ret->columns[0] = ideal;
	ret->columns[1] = sampled;
	return true;
}

void comparison_fini(struct comparison *c)
{
	free(c->columns);
	*c = (struct comparison){ 0 };
}

size_t comparison_column(const struct comparison *c, size_t event, size_t source)
{
	return c->columns[event * c->n_sources + source];
}

double comparison_factor(const struct comparison *c, const struct profile *p,
			 size_t event, size_t source)
{
	size_t first = comparison_column(c, event, 0);
	double before = (double)profile_column(p, first)->total_weight;
	double after = (double)profile_column(p, comparison_column(c, event, source))
			       ->total_weight;

	return c->is_share && source && after > 0 ? before / after : 1;
}

double comparison_sample_weight(const struct profile_column *c)
{
	if (c->event == MODEL_NONE || c->period <= 1)
		return 0;
	return c->total_count ? (double)c->total_weight / (double)c->total_count
			      : (double)c->period;
}

static double square(int64_t x)
{
	return (double)x * (double)x;
}

/* From what is known exactly. */
static bool is_computed(const struct profile_column *c)
{
	return c->event != c->source_event;
}

/* Of a value that is a number of samples of nearly the same weight each; of all samples
 * there are, the number is certain. */
static double variance(const struct profile_column *c, uint64_t value)
{
	if (!c->total_weight || value > c->total_weight)
		return (double)value * comparison_sample_weight(c);
	return (double)value * comparison_sample_weight(c) *
	       (1 - (double)value / (double)c->total_weight);
}

struct comparison_change comparison_of(const struct profile *p, size_t before_column,
				       uint64_t before, size_t after_column,
				       uint64_t after, double after_factor)
{
	const struct profile_column *b = profile_column(p, before_column);
	const struct profile_column *a = profile_column(p, after_column);
	uint64_t scaled = (uint64_t)llround((double)after * after_factor);
	struct comparison_change change = {
		.delta = (int64_t)(scaled - before),
		.ratio = before	  ? (double)scaled / (double)before
			 : scaled ? (double)INFINITY
				  : (double)NAN,
	};

	if (is_computed(b) && comparison_sample_weight(a) > 0)
		change.is_chance = square(change.delta) <=
				   4 * variance(a, before > after ? before : after);
	else if (comparison_sample_weight(a) > 0 && comparison_sample_weight(b) > 0)
		change.is_chance = square(change.delta) <=
				   4 * (variance(b, before) +
					variance(a, after) * after_factor * after_factor);
	return change;
}
