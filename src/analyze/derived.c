/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/derived.h"

#include <string.h>

/* The events of an experiment that have this unit are parts of one whole. */
static const struct whole {
	const char *experiment, *unit, *name;
} wholes[] = {
	{ "totaltime", "ns", "total-time" },
};

enum { N_WHOLES = sizeof(wholes) / sizeof(wholes[0]) };

static bool is_part(const struct recording *r, const struct model_event *ev,
		    const struct whole *w)
{
	return strcmp(recording_string(r, ev->experiment), w->experiment) == 0 &&
	       strcmp(recording_string(r, ev->unit), w->unit) == 0;
}

/* One part alone is its own whole. */
static bool has_parts(const struct recording *r, const struct whole *w)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < recording_n_events(r); i++)
		n += is_part(r, recording_event(r, i), w);
	return n > 1;
}

const char *derived_name(const struct recording *r, size_t i)
{
	for (size_t k = 0; k < N_WHOLES; k++)
		if (has_parts(r, &wholes[k]) && i-- == 0)
			return wholes[k].name;
	return NULL;
}

static bool is_named(const struct profile_options *o, const char *name)
{
	return o->events && o->events[0] && profile_wants_event(o, name);
}

bool derived_needs_event(const struct recording *r, const struct model_event *ev,
			 const struct profile_options *o)
{
	for (size_t k = 0; k < N_WHOLES; k++) {
		if (!is_part(r, ev, &wholes[k]) || !is_named(o, wholes[k].name))
			continue;
		for (uint32_t i = 0; i < recording_n_events(r); i++) {
			const struct model_event *other = recording_event(r, i);

			if (is_part(r, other, &wholes[k]) &&
			    is_named(o, recording_string(r, other->name)))
				return true;
		}
	}
	return false;
}

/* Where the whole goes: before its first part that is shown, else at the end. */
static uint32_t place_of(const struct input *s, const struct whole *w)
{
	uint32_t at = s->n_columns;

	for (uint32_t i = 0; i < recording_n_events(s->recording); i++)
		if (is_part(s->recording, recording_event(s->recording, i), w) &&
		    s->column_of_event[i] < at)
			at = s->column_of_event[i];
	return at;
}

static void insert_column(struct profile *p, uint32_t source, const struct whole *w,
			  uint32_t at)
{
	struct input *s = &p->sources[source];
	size_t place = s->first_column + at;

	vec_push(&p->columns);
	memmove(&p->columns.at[place + 1], &p->columns.at[place],
		(p->columns.n - 1 - place) * sizeof(p->columns.at[0]));
	p->columns.at[place] = (struct profile_column){
		.source = source,
		.event = MODEL_NONE,
		.source_event = MODEL_NONE,
		.whole = MODEL_NONE,
		.name = w->name,
		.unit = w->unit,
		.experiment = w->experiment,
		.collected_by = "",
	};
	s->n_columns++;
	for (size_t i = place + 1; i < p->columns.n; i++)
		if (p->columns.at[i].whole != MODEL_NONE &&
		    p->columns.at[i].whole >= place)
			p->columns.at[i].whole++;
	for (uint32_t i = 0; i < recording_n_events(s->recording); i++)
		if (s->column_of_event[i] != MODEL_NONE && s->column_of_event[i] >= at)
			s->column_of_event[i]++;
}

static void add_whole(struct profile *p, uint32_t source, const struct whole *w)
{
	struct input *s = &p->sources[source];
	uint32_t at = place_of(s, w), n = s->n_columns;
	bool is_alone = at == n;

	insert_column(p, source, w, at);
	for (uint32_t i = 0; i < recording_n_events(s->recording); i++) {
		uint32_t *column = &s->column_of_event[i];

		if (!is_part(s->recording, recording_event(s->recording, i), w))
			continue;
		if (is_alone)
			*column = at;
		else if (*column != MODEL_NONE)
			p->columns.at[s->first_column + *column].whole =
				s->first_column + at;
	}
}

void derived_add_columns(struct profile *p, uint32_t source,
			 const struct profile_options *o)
{
	for (size_t k = 0; k < N_WHOLES; k++)
		if (profile_wants_experiment(o, wholes[k].experiment) &&
		    profile_wants_event(o, wholes[k].name) &&
		    has_parts(p->sources[source].recording, &wholes[k]))
			add_whole(p, source, &wholes[k]);
}

/* values: n_rows rows of n values, which begin with the column `first`. */
static void add_parts(const struct profile *p, uint32_t first, uint32_t n,
		      uint64_t *values, size_t n_rows)
{
	for (uint32_t c = 0; c < n; c++) {
		uint32_t whole = p->columns.at[first + c].whole;

		for (size_t i = 0; whole != MODEL_NONE && i < n_rows; i++)
			values[i * n + whole - first] += values[i * n + c];
	}
}

void derived_sum_stacks(struct profile *p, struct input *s)
{
	/* A slot's weights and its counts are two rows. */
	add_parts(p, s->first_column, s->n_columns, s->values, 2 * s->n_slots);
	for (uint32_t c = s->first_column; c < s->first_column + s->n_columns; c++) {
		const struct profile_column *part = &p->columns.at[c];

		if (part->whole == MODEL_NONE)
			continue;
		p->columns.at[part->whole].total_weight += part->total_weight;
		p->columns.at[part->whole].total_count += part->total_count;
	}
}

void derived_sum_rows(const struct profile *p, uint64_t *values, size_t n_rows)
{
	add_parts(p, 0, (uint32_t)p->columns.n, values, n_rows);
}
