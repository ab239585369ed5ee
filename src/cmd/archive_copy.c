/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/archive_copy.h"

/* The string of the new recording with the same text. */
static uint32_t text(const struct recording *r, struct writer *w, uint32_t id)
{
	return writer_string(w, recording_string(r, id));
}

static void copy_info(const struct recording *r, struct writer *w)
{
	for (size_t i = 0; i < recording_info_count(r); i++) {
		const char *key, *value;

		recording_info_at(r, i, &key, &value);
		writer_info(w, key, value);
	}
}

static void copy_images(const struct recording *r, struct writer *w)
{
	for (uint32_t i = 0; i < recording_n_images(r); i++) {
		struct model_image m = *recording_image(r, i);

		m.path = text(r, w, m.path);
		m.host_path = text(r, w, m.host_path);
		writer_image(w, &m);
	}
}

static void copy_stacks(const struct recording *r, struct writer *w)
{
	const struct model_location *l = recording_locations(r);
	const struct model_stack *s = recording_stacks(r);

	for (uint32_t i = 0; i < recording_n_locations(r); i++)
		writer_location(w, l[i].image, l[i].offset, l[i].flags);
	for (uint32_t i = 1; i < recording_n_stacks(r); i++)
		writer_stack(w, s[i].parent, s[i].location);
}

static void copy_processes(const struct recording *r, struct writer *w)
{
	for (uint32_t i = 0; i < recording_n_processes(r); i++) {
		struct model_process p = *recording_process(r, i);

		p.comm = text(r, w, p.comm);
		p.exe = text(r, w, p.exe);
		p.cmdline = text(r, w, p.cmdline);
		p.note = text(r, w, p.note);
		p.cgroup = text(r, w, p.cgroup);
		p.host = text(r, w, p.host);
		p.epoch = text(r, w, p.epoch);
		writer_process(w, &p);
	}
	for (uint32_t i = 0; i < recording_n_threads(r); i++) {
		struct model_thread t = *recording_thread(r, i);

		t.name = text(r, w, t.name);
		writer_thread(w, &t);
	}
	for (uint32_t i = 0; i < recording_n_mappings(r); i++)
		writer_mapping(w, recording_mapping(r, i));
}

static void copy_events(const struct recording *r, struct writer *w)
{
	for (uint32_t i = 0; i < recording_n_events(r); i++) {
		struct model_event ev = *recording_event(r, i);

		ev.name = text(r, w, ev.name);
		ev.unit = text(r, w, ev.unit);
		ev.experiment = text(r, w, ev.experiment);
		ev.source = text(r, w, ev.source);
		ev.description = text(r, w, ev.description);
		writer_event(w, &ev);
	}
	for (uint32_t i = 0; i < recording_n_trace_types(r); i++) {
		struct model_trace_type t = *recording_trace_type(r, i);

		for (uint32_t c = 0; c < t.n_columns; c++)
			t.columns[c].name = text(r, w, t.columns[c].name);
		writer_trace_type(w, &t);
	}
}

static void copy_marks(const struct recording *r, struct writer *w)
{
	for (uint32_t i = 0; i < recording_n_intervals(r); i++) {
		struct model_interval v = *recording_interval(r, i);

		v.name = text(r, w, v.name);
		v.cause = text(r, w, v.cause);
		writer_interval(w, &v);
	}
	for (uint32_t i = 0; i < recording_n_facts(r); i++) {
		struct model_fact f = *recording_fact(r, i);

		f.name = text(r, w, f.name);
		f.unit = text(r, w, f.unit);
		writer_fact(w, &f);
	}
}

static int copy_samples(const struct recording *r, struct writer *w, struct err *e)
{
	own(sample_block_fini) struct sample_block b = { 0 };

	for (size_t i = 0; i < recording_n_sample_blocks(r); i++) {
		int rc = recording_read_samples(r, i, SAMPLE_ALL, &b, e);

		for (size_t k = 0; rc == 0 && k < b.n; k++)
			writer_sample(w, &(struct model_sample){
						 .time_ns = b.time_ns[k],
						 .weight = b.weight[k],
						 .event = b.event[k],
						 .thread = b.thread[k],
						 .cpu = b.cpu[k],
						 .stack = b.stack[k],
						 .count = b.count[k],
					 });
		if (rc == 0)
			rc = writer_flush(w, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

struct traces {
	const struct recording *r;
	struct writer *w;
};

static int copy_trace(void *ctx, const struct model_trace *t, struct err *e unused)
{
	const struct traces *traces = ctx;
	const struct model_trace_type *type =
		recording_trace_type(traces->r, t->trace_type);
	struct model_trace copy = *t;

	for (uint32_t c = 0; type && c < type->n_columns; c++)
		if (type->columns[c].type == COLUMN_STRING)
			copy.values[c] =
				text(traces->r, traces->w, (uint32_t)t->values[c]);
	writer_trace(traces->w, &copy);
	return 0;
}

static int copy_basic_block(void *w, uint32_t id unused,
			    const struct model_basic_block *b, struct err *e unused)
{
	writer_basic_block(w, b);
	return 0;
}

static int copy_edge(void *w, const struct model_edge *edge, struct err *e unused)
{
	writer_edge(w, edge);
	return 0;
}

static int copy_direction(void *w, const struct model_direction *d, struct err *e unused)
{
	writer_direction(w, d);
	return 0;
}

static int copy_access(void *w, const struct model_access *a, struct err *e unused)
{
	writer_access(w, a);
	return 0;
}

static int copy_anchor(void *w, const struct model_anchor *a, struct err *e unused)
{
	writer_anchor(w, a);
	return 0;
}

static int copy_anchor_way(void *w, const struct model_anchor_way *way,
			   struct err *e unused)
{
	writer_anchor_way(w, way);
	return 0;
}

static int copy_gauge(void *w, const struct gauge *g, struct err *e unused)
{
	writer_gauge(w, g);
	return 0;
}

static int copy_blobs(const struct recording *r, struct writer *w, struct err *e)
{
	for (size_t i = 0; i < recording_n_blobs(r); i++) {
		struct model_blob b = *recording_blob(r, i);
		own(buf_fini) struct buf bytes = { 0 };
		int rc = recording_read_blob(r, i, &bytes, e);

		if (rc < 0)
			return rc;
		b.name = text(r, w, b.name);
		b.size_bytes = bytes.size;
		rc = writer_blob(w, &b, bytes.data, e);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int archive_copy(const struct recording *r, struct writer *w, struct err *e)
{
	struct traces traces = { r, w };
	int rc;

	copy_info(r, w);
	copy_images(r, w);
	copy_stacks(r, w);
	copy_processes(r, w);
	copy_events(r, w);
	copy_marks(r, w);
	rc = copy_samples(r, w, e);
	if (rc == 0)
		rc = recording_each_trace(r, copy_trace, &traces, e);
	if (rc == 0)
		rc = recording_each_basic_block(r, copy_basic_block, w, e);
	if (rc == 0)
		rc = recording_each_edge(r, copy_edge, w, e);
	if (rc == 0)
		rc = recording_each_direction(r, copy_direction, w, e);
	if (rc == 0)
		rc = recording_each_anchor(r, copy_anchor, w, e);
	if (rc == 0)
		rc = recording_each_anchor_way(r, copy_anchor_way, w, e);
	if (rc == 0)
		rc = recording_each_access(r, copy_access, w, e);
	if (rc == 0)
		rc = recording_each_gauge(r, copy_gauge, w, e);
	if (rc == 0)
		rc = copy_blobs(r, w, e);
	return rc;
}
