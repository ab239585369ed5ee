/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_json.h"

#include <stdio.h>
#include <string.h>

#include "analyze/waits.h"
#include "base/mem.h"
#include "cmd/report_matches.h"
#include "cmd/report_under.h"
#include "cmd/report_unfollowed.h"
#include "unwind/offline.h"

static void event_key(const struct report *r, size_t column, char *key, size_t cap)
{
	const struct profile_column *c = profile_column(r->profile, column);
	unsigned same = 0;

	for (size_t i = 0; i < profile_n_columns(r->profile); i++)
		same += strcmp(profile_column(r->profile, i)->name, c->name) == 0;
	snprintf(key, cap, same > 1 ? "%s@%u" : "%s", c->name, c->source + 1);
}

void report_json_event(struct json *j, const struct report *r, size_t column)
{
	char name[200];

	event_key(r, column, name, sizeof(name));
	json_key(j, name);
}

void report_json_values(struct json *j, const struct report *r, const char *key,
			const uint64_t *values)
{
	json_key(j, key);
	json_object(j);
	for (size_t i = 0; i < profile_n_columns(r->profile); i++) {
		report_json_event(j, r, i);
		json_u64(j, values[i]);
	}
	json_object_end(j);
}

static void put_sources(struct json *j, const struct report *r)
{
	json_key(j, "sources");
	json_array(j);
	for (size_t i = 0; i < profile_n_sources(r->profile); i++) {
		const struct recording *rec = profile_source(r->profile, i);

		json_object(j);
		json_key_str(j, "path", recording_path(rec));
		for (size_t k = 0; k < recording_info_count(rec); k++) {
			const char *key, *value;

			recording_info_at(rec, k, &key, &value);
			if (strcmp(key, "path") != 0)
				json_key_str(j, key, value);
		}
		json_key_u64(j, "wall_ns", r->quality.sources[i].wall_ns);
		if (r->quality.sources[i].asleep_ns)
			json_key_u64(j, "asleep_ns", r->quality.sources[i].asleep_ns);
		report_unfollowed_json(j, rec);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_events(struct json *j, const struct report *r)
{
	json_key(j, "events");
	json_array(j);
	for (size_t i = 0; i < profile_n_columns(r->profile); i++) {
		const struct profile_column *c = profile_column(r->profile, i);
		char name[200];

		event_key(r, i, name, sizeof(name));
		json_object(j);
		json_key_str(j, "name", name);
		json_key_str(j, "unit", c->unit);
		json_key_str(j, "experiment", c->experiment);
		json_key_str(j, "collected_by", c->collected_by);
		if (c->whole != MODEL_NONE) {
			event_key(r, c->whole, name, sizeof(name));
			json_key_str(j, "part_of", name);
		}
		json_key_u64(j, "source", c->source);
		json_key_u64(j, "period", c->period);
		json_key_u64(j, "samples", c->total_count);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_totals(struct json *j, const struct report *r, const uint64_t *totals)
{
	char name[200];

	json_key(j, "total");
	json_object(j);
	for (size_t i = 0; i < profile_n_columns(r->profile); i++) {
		event_key(r, i, name, sizeof(name));
		json_key_u64(j, name,
			     totals ? totals[i]
				    : profile_column(r->profile, i)->total_weight);
	}
	json_object_end(j);
}

void report_json_begin_with(struct json *j, const struct report *r, const char *name,
			    const uint64_t *totals, FILE *out)
{
	json_init(j, out);
	json_object(j);
	json_key_str(j, "report", name);
	if (r->filter)
		json_key_str(j, "filter", r->filter);
	put_sources(j, r);
	put_events(j, r);
	put_totals(j, r, totals);
	json_key(j, "rows");
	json_array(j);
}

void report_json_begin(struct json *j, const struct report *r, const char *name,
		       FILE *out)
{
	report_json_begin_with(j, r, name, NULL, out);
}

static void put_truncated(struct json *j, const struct report *r)
{
	char name[200];

	json_key(j, "truncated");
	json_object(j);
	for (size_t c = 0; c < r->quality.n_columns; c++) {
		const struct quality_column *q = &r->quality.columns[c];

		event_key(r, c, name, sizeof(name));
		json_key(j, name);
		json_object(j);
		json_key_u64(j, "total", q->truncated);
		for (unsigned i = 0; i < UNWIND_N_STOPS; i++)
			if (q->truncated_by[i])
				json_key_u64(j, unwind_stop_text(i), q->truncated_by[i]);
		json_object_end(j);
	}
	json_object_end(j);
}

/* Of events that were off at times. */
static void put_on_shares(struct json *j, const struct report *r)
{
	char name[200];
	bool has_any = false;

	for (size_t c = 0; c < r->quality.n_columns; c++)
		has_any |= r->quality.columns[c].on_share < 1;
	if (!has_any)
		return;
	json_key(j, "on_share");
	json_object(j);
	for (size_t c = 0; c < r->quality.n_columns; c++) {
		event_key(r, c, name, sizeof(name));
		json_key(j, name);
		json_double(j, r->quality.columns[c].on_share);
	}
	json_object_end(j);
}

/* Where code was not at hand to compute an event from. */
static void put_not_timed(struct json *j, const struct report *r)
{
	char name[200];
	bool has_any = false;

	for (size_t c = 0; c < r->quality.n_columns; c++)
		has_any |= r->quality.columns[c].not_timed_share > 0;
	if (!has_any)
		return;
	json_key(j, "not_timed_share");
	json_object(j);
	for (size_t c = 0; c < r->quality.n_columns; c++) {
		event_key(r, c, name, sizeof(name));
		json_key(j, name);
		json_double(j, r->quality.columns[c].not_timed_share);
	}
	json_object_end(j);
}

static void put_unresolved(struct json *j, const struct report *r)
{
	char name[200];

	json_key(j, "unresolved");
	json_object(j);
	for (size_t c = 0; c < r->quality.n_columns; c++) {
		event_key(r, c, name, sizeof(name));
		json_key_u64(j, name, r->quality.columns[c].unresolved);
	}
	json_object_end(j);
	json_key(j, "unresolved_images");
	json_array(j);
	for (size_t i = 0; i < r->quality.n_images; i++) {
		const struct quality_image *q = &r->quality.images[i];

		event_key(r, q->column, name, sizeof(name));
		json_object(j);
		json_key_str(j, "image", q->image);
		json_key_str(j, "event", name);
		json_key_u64(j, "weight", q->weight);
		json_key_str(j, "problem", q->problem);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_source_quality(struct json *j, const struct quality_source *q)
{
	json_object(j);
	json_key_u64(j, "lost_samples", q->lost_samples);
	if (q->has_cpu) {
		json_key_u64(j, "cpu_sampled_ns", q->sampled_ns);
		json_key_u64(j, "cpu_used_ns", q->used_ns);
	}
	json_key_u64(j, "profiler_cpu_ns", q->self_cpu_ns);
	json_key_bool(j, "complete", q->is_complete);
	json_key_str(j, "damage", q->damage);
	json_key_u64(j, "unreadable_blocks", q->n_bad_blocks);
	json_object_end(j);
}

/* Every number the recorder noted about itself and the target. */
static void put_facts(struct json *j, const struct report *r)
{
	static const char *const kinds[] = { "target", "self", "rate", "loss" };

	json_key(j, "facts");
	json_array(j);
	for (size_t s = 0; s < profile_n_sources(r->profile); s++) {
		const struct recording *rec = profile_source(r->profile, s);

		for (uint32_t i = 0; i < recording_n_facts(rec); i++) {
			const struct model_fact *f = recording_fact(rec, i);
			const struct model_event *ev = recording_event(rec, f->event);

			json_object(j);
			json_key_u64(j, "source", s);
			json_key_str(j, "kind", f->kind < 4 ? kinds[f->kind] : "other");
			json_key_str(j, "name", recording_string(rec, f->name));
			json_key_str(j, "unit", recording_string(rec, f->unit));
			if (ev)
				json_key_str(j, "event", recording_string(rec, ev->name));
			if (f->process != MODEL_NONE)
				json_key_u64(j, "process", f->process);
			json_key_u64(j, "value", f->value);
			json_object_end(j);
		}
	}
	json_array_end(j);
}

static void put_wait(struct json *j, const struct report *r, size_t column,
		     const struct wait *w)
{
	const struct profile_function *f = profile_function(r->profile, w->function);
	char event[200];

	event_key(r, column, event, sizeof(event));
	json_object(j);
	json_key_str(j, "event", event);
	json_key_str(j, "name", f->name);
	json_key_str(j, "image", f->image);
	if (w->caller != MODEL_NONE) {
		f = profile_function(r->profile, w->caller);
		json_key_str(j, "caller", f->name);
		json_key_str(j, "caller_image", f->image);
	}
	json_key_u64(j, "weight", w->weight);
	json_object_end(j);
}

/* What the text tells below the events of threads that wait. */
static void put_waits(struct json *j, const struct report *r)
{
	json_key(j, "waits");
	json_array(j);
	for (size_t c = 0; c < profile_n_columns(r->profile); c++) {
		own(freep) struct wait *waits = NULL;
		size_t n = 0;

		if (waits_is_column(profile_column(r->profile, c)))
			n = waits_find(r->profile, c, &waits);
		for (size_t i = 0; i < n; i++)
			put_wait(j, r, c, &waits[i]);
	}
	json_array_end(j);
}

static bool has_waits(const struct report *r)
{
	for (size_t c = 0; c < profile_n_columns(r->profile); c++)
		if (waits_is_column(profile_column(r->profile, c)))
			return true;
	return false;
}

void report_json_end(struct json *j, const struct report *r)
{
	uint64_t lost = 0;

	json_array_end(j);
	if (profile_n_matches(r->profile))
		report_matches_json(j, r);
	if (has_waits(r))
		put_waits(j, r);
	report_under_json(j, r);
	json_key(j, "quality");
	json_object(j);
	for (size_t i = 0; i < r->quality.n_sources; i++)
		lost += r->quality.sources[i].lost_samples;
	json_key_u64(j, "lost", lost);
	if (r->n_late_rows)
		json_key_u64(j, "late_rows", r->n_late_rows);
	put_truncated(j, r);
	put_not_timed(j, r);
	put_on_shares(j, r);
	put_unresolved(j, r);
	json_key(j, "sources");
	json_array(j);
	for (size_t i = 0; i < r->quality.n_sources; i++)
		put_source_quality(j, &r->quality.sources[i]);
	json_array_end(j);
	put_facts(j, r);
	json_object_end(j);
	json_object_end(j);
	fputc('\n', j->out);
}

void report_json_function(struct json *j, const struct report *r, uint32_t function)
{
	const struct profile_function *f = profile_function(r->profile, function);

	json_key_str(j, "name", f->name);
	json_key_str(j, "image", f->image);
	if (f->linkage)
		json_key_str(j, "linkage", f->linkage);
	json_key_str(j, "path", f->image_path);
	if (f->decl_file) {
		json_key_str(j, "file", f->decl_file);
		json_key_u64(j, "line", f->decl_line);
	}
	json_key_bool(j, "resolved", f->is_resolved);
}
