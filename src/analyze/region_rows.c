/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/region_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"

#define REGION	"[region "
#define COUNTER "[counter "

struct making {
	const struct profile *p;
	struct region_rows *rows;
	enum region_rows_by by;
	struct map by_key;
};

static const char *label_of(const struct profile *p, uint32_t function)
{
	return profile_function(p, function)->name;
}

bool region_rows_is_counter(const struct profile *p, uint32_t function)
{
	return text_starts(label_of(p, function), COUNTER);
}

void region_rows_name(const struct profile *p, uint32_t function, char *ret, size_t cap)
{
	const char *label = label_of(p, function);
	size_t skip = text_starts(label, REGION)    ? sizeof(REGION) - 1
		      : text_starts(label, COUNTER) ? sizeof(COUNTER) - 1
						    : 0;
	size_t n = strlen(label);

	snprintf(ret, cap, "%.*s", (int)(n - skip - (skip > 0)), label + skip);
}

static uint32_t row_of(struct making *m, uint64_t key, const struct region_row *like)
{
	bool is_new;
	uint64_t *i = map_slot(&m->by_key, key, &is_new);

	if (is_new) {
		*i = m->rows->rows.n;
		*vec_push(&m->rows->rows) = *like;
	}
	return (uint32_t)*i;
}

static uint64_t mix(uint64_t a, uint64_t b)
{
	uint64_t h =
		(a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);

	return h ^ h >> 32;
}

static uint32_t thread_row(struct making *m, const struct profile_sample *s)
{
	const struct recording *r =
		profile_source(m->p, profile_column(m->p, s->column)->source);
	uint64_t key = mix(1, (uintptr_t)s->thread);
	const uint64_t *known = map_find(&m->by_key, key);
	struct region_row row = { .function = MODEL_NONE, .parent = MODEL_NONE };

	if (known)
		return (uint32_t)*known;
	row.thread = xasprintf("%s (%u)", recording_string(r, s->thread->name),
			       s->thread->tid);
	return row_of(m, key, &row);
}

/* The row of the frame, of which the one before has its row already. */
static uint32_t frame_row(struct making *m, const struct profile_sample *s, size_t frame,
			  uint32_t outer)
{
	uint32_t function = s->frames[frame].function;
	uint32_t parent = m->by == REGION_ROWS_BY_REGION   ? MODEL_NONE
			  : m->by == REGION_ROWS_BY_THREAD ? thread_row(m, s)
							   : outer;
	struct region_row row = {
		.function = function,
		.parent = parent,
		.depth = parent == MODEL_NONE ? 0 : m->rows->rows.at[parent].depth + 1,
		.is_counter = region_rows_is_counter(m->p, function),
	};

	return row_of(m, mix(mix(2, parent), function), &row);
}

/* Of whichever quantity: "regions:cpu". */
static bool is_of_regions(const struct profile_column *c)
{
	return strcmp(c->experiment, "regions") == 0 ||
	       text_starts(c->experiment, "regions:");
}

/* Of what passed in them; beside it calls are counted, and what programs count. */
static bool is_quantity(const struct profile_column *c)
{
	return is_of_regions(c) && text_starts(c->name, "region-") &&
	       strcmp(c->name, "region-calls") != 0;
}

/* NULL: there are none.  What is of one name is of one unit, too. */
static int find_quantity(const struct profile *p, const struct profile_column **ret,
			 struct err *e)
{
	*ret = NULL;
	for (uint32_t i = 0; i < profile_n_columns(p); i++) {
		const struct profile_column *c = profile_column(p, i);

		if (!is_quantity(c))
			continue;
		if (*ret && strcmp(c->name, (*ret)->name) != 0)
			return err_set(e, ERR_USAGE,
				       "%s and %s cannot be added: report recordings of "
				       "either alone",
				       (*ret)->name, c->name);
		*ret = c;
	}
	return 0;
}

/* What a sample's weight is of. */
struct weight {
	uint64_t time, calls, counted;
};

static bool weight_of(const struct profile *p, const struct profile_sample *s,
		      struct weight *ret)
{
	const struct profile_column *c = profile_column(p, s->column);

	*ret = (struct weight){ 0 };
	if (!is_of_regions(c))
		return false;
	if (strcmp(c->name, "region-calls") == 0)
		ret->calls = s->weight;
	else if (strcmp(c->name, "counted") == 0)
		ret->counted = s->weight;
	else
		ret->time = s->weight;
	return true;
}

static bool was_met(const uint32_t *rows, size_t n, uint32_t row)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i] == row)
			return true;
	return false;
}

static void add_thread(struct making *m, const struct profile_sample *s,
		       const struct weight *w)
{
	uint32_t i;

	if (m->by != REGION_ROWS_BY_THREAD)
		return;
	i = thread_row(m, s);
	m->rows->rows.at[i].inclusive += w->time;
	m->rows->rows.at[i].calls += w->calls;
}

static int add_sample(void *ctx, const struct profile_sample *s, struct err *e)
{
	struct making *m = ctx;
	struct weight w;
	own(freep) uint32_t *rows = xcalloc(s->n_frames + 1, sizeof(*rows));
	struct region_row *leaf;

	(void)e;
	if (!weight_of(m->p, s, &w) || !s->n_frames || !s->thread)
		return 0;
	add_thread(m, s, &w);
	for (size_t i = 0; i < s->n_frames; i++) {
		rows[i] = frame_row(m, s, i, i ? rows[i - 1] : MODEL_NONE);
		if (m->by == REGION_ROWS_BY_TREE || !was_met(rows, i, rows[i]))
			m->rows->rows.at[rows[i]].inclusive += w.time;
	}
	leaf = &m->rows->rows.at[rows[s->n_frames - 1]];
	leaf->exclusive += w.time;
	leaf->calls += w.calls;
	leaf->counted += w.counted;
	if (s->n_frames > 1)
		m->rows->rows.at[rows[s->n_frames - 2]].subroutines += w.calls;
	m->rows->total.inclusive += w.time;
	m->rows->total.exclusive += w.time;
	m->rows->total.calls += w.calls;
	return 0;
}

int region_rows_make(const struct profile *p, enum region_rows_by by,
		     struct region_rows *ret, struct err *e)
{
	struct making m = { .p = p, .rows = ret, .by = by };
	const struct profile_column *quantity;
	int rc = find_quantity(p, &quantity, e);

	if (rc < 0)
		return rc;
	ret->unit = quantity ? quantity->unit : "ns";
	for (uint32_t i = 0; i < profile_n_columns(p); i++)
		ret->has_regions |= is_of_regions(profile_column(p, i));
	rc = profile_each_sample(p, add_sample, &m, e);
	map_fini(&m.by_key);
	return rc;
}

void region_rows_fini(struct region_rows *r)
{
	vec_each(row, &r->rows)
		free(row->thread);
	vec_fini(&r->rows);
}
