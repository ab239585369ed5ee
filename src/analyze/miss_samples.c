/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/miss_samples.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void miss_samples_fini(struct miss_samples *m)
{
	for (unsigned i = 0; i < m->n; i++)
		free(m->events[i].of_step);
	*m = (struct miss_samples){ 0 };
}

/* Events that one sample of a column stands for; 0: not known, for it changed and there
 * are none. */
static double each_of(const struct profile_column *c)
{
	return c->total_count ? (double)c->total_weight / (double)c->total_count
			      : (double)c->period;
}

/* That of the same event in another recording, or a new one; NULL: there is no room. */
static struct miss_samples_event *event_of(struct miss_samples *m,
					   const struct profile_column *c,
					   const struct event_name *name,
					   uint32_t n_steps)
{
	struct miss_samples_event *e = m->events;

	for (; e < m->events + m->n; e++)
		if (strcmp(e->column, c->name) == 0)
			return e;
	if (m->n == MISS_SAMPLES_MAX)
		return NULL;
	m->n++;
	*e = (struct miss_samples_event){
		.name = name,
		.column = c->name,
		.is_precise = event_name_is_precise(c->name),
		.of_step = xcalloc(n_steps + 1, sizeof(*e->of_step)),
	};
	return e;
}

static void take(struct miss_samples_event *e, const struct profile_column *c,
		 size_t column, const struct listing_rows *rows,
		 const struct map *step_at)
{
	double each = each_of(c), before = e->each * e->all;

	e->n_runs++;
	for (size_t i = 0; i < rows->n; i++) {
		const struct listing_row *row = &rows->rows[i];
		const uint64_t *step = map_find(step_at, row->address);
		double n = row->is_return ? 0 : (double)row->exclusive[column] / each;

		e->here += n;
		if (step)
			e->of_step[*step] += n;
	}
	e->all += (double)c->total_count;
	e->each = e->all > 0 ? (before + (double)c->total_weight) / e->all : each;
}

void miss_samples_take(struct miss_samples *ret, const struct profile *p,
		       const struct listing_rows *rows, const struct map *step_at,
		       uint32_t n_steps)
{
	for (size_t i = 0; i < profile_n_columns(p); i++) {
		const struct profile_column *c = profile_column(p, i);
		const struct event_name *name = event_name_find(c->name);
		struct miss_samples_event *e;

		if (!name || !(each_of(c) > 0))
			continue;
		e = event_of(ret, c, name, n_steps);
		if (e)
			take(e, c, i, rows, step_at);
	}
}
