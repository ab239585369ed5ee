/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_json.h"
#include "cmd/timeline_view.h"

static const struct recording *recording_of(const struct timeline_view *v)
{
	return profile_source(v->report->profile, v->source);
}

static uint64_t since_start(const struct timeline_view *v, uint64_t time_ns)
{
	uint64_t start_ns = profile_start_ns(v->report->profile, v->source);

	return time_ns > start_ns ? time_ns - start_ns : 0;
}

static void begin_row(const struct timeline_view *v, struct json *j, const char *of)
{
	json_object(j);
	json_key_u64(j, "source", v->source);
	json_key_str(j, "of", of);
}

/* When the cells begin and end, which are of one length. */
static void put_range(const struct timeline_view *v, struct json *j)
{
	json_key_u64(j, "from_ns", since_start(v, v->chronicle.from_ns));
	json_key_u64(j, "to_ns", since_start(v, v->chronicle.to_ns));
}

static void put_kinds(struct json *j, const double *ns)
{
	enum chronicle_kind most = chronicle_most(ns);

	json_key_str(j, "most", most < CHRONICLE_NONE ? chronicle_kind_name(most) : NULL);
	json_key(j, "ns");
	json_object(j);
	for (enum chronicle_kind k = 0; k < CHRONICLE_N_KINDS; k++)
		if (ns[k] > 0)
			json_key_u64(j, chronicle_kind_name(k), chronicle_whole(ns[k]));
	json_object_end(j);
}

static void put_cell(const struct timeline_view *v, struct json *j,
		     const struct chronicle_cell *c)
{
	json_object(j);
	put_kinds(j, c->ns);
	if (c->function != MODEL_NONE) {
		json_key(j, "function");
		json_object(j);
		report_json_function(j, v->report, c->function);
		json_object_end(j);
		json_key_u64(j, "function_ns", chronicle_whole(c->function_ns));
	}
	json_object_end(j);
}

static void put_thread(const struct timeline_view *v, struct json *j,
		       const struct chronicle_thread *x)
{
	const struct recording *r = recording_of(v);

	begin_row(v, j, "thread");
	json_key_u64(j, "pid", x->process->pid);
	json_key_u64(j, "tid", x->thread->tid);
	json_key_str(j, "process", recording_string(r, x->process->comm));
	json_key_str(j, "thread", recording_string(r, x->thread->name));
	put_kinds(j, x->ns);
	put_range(v, j);
	json_key(j, "cells");
	json_array(j);
	for (size_t i = 0; i < v->chronicle.n_cells; i++)
		put_cell(v, j, &x->cells[i]);
	json_array_end(j);
	json_object_end(j);
}

static void put_value(const struct timeline_view *v, struct json *j,
		      const struct chronicle_value *x)
{
	begin_row(v, j, "value");
	json_key_str(j, "name", x->name);
	json_key_str(j, "unit", x->unit);
	if (x->process)
		json_key_u64(j, "pid", x->process->pid);
	json_key_double(j, "most", x->most);
	put_range(v, j);
	json_key(j, "cells");
	json_array(j);
	for (size_t i = 0; i < v->chronicle.n_cells; i++)
		json_double(j, x->cells[i]);
	json_array_end(j);
	json_object_end(j);
}

static void put_interval(const struct timeline_view *v, struct json *j, uint32_t i)
{
	const struct recording *r = recording_of(v);
	const struct model_interval *x = recording_interval(r, i);

	begin_row(v, j, "interval");
	json_key_u64(j, "interval", i + 1);
	json_key_u64(j, "from_ns", since_start(v, x->from_ns));
	json_key_u64(j, "to_ns", since_start(v, x->to_ns));
	json_key_str(j, "name", recording_string(r, x->name));
	json_key_str(j, "cause", recording_string(r, x->cause));
	json_object_end(j);
}

void timeline_view_json(const struct timeline_view *v, struct json *j)
{
	for (size_t i = 0; i < v->n_shown; i++)
		put_thread(v, j, &v->chronicle.threads.at[i]);
	vec_each(x, &v->values.all)
		put_value(v, j, x);
	for (uint32_t i = 0; i < recording_n_intervals(recording_of(v)); i++)
		put_interval(v, j, i);
}
