/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/io_view.h"
#include "cmd/report_json.h"

/* [{"from": least, "calls": n}, …] of those that have calls. */
static void put_steps(struct json *j, const char *key, const struct io_rows_steps *s)
{
	json_key(j, key);
	json_array(j);
	for (unsigned i = 0; i < IO_ROWS_STEPS; i++) {
		if (!s->n[i])
			continue;
		json_object(j);
		json_key_u64(j, "from", io_rows_least(i));
		json_key_u64(j, "calls", s->n[i]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_sums(struct json *j, const struct io_rows_sums *s)
{
	json_key_u64(j, "calls", s->calls);
	json_key_u64(j, "errors", s->errors);
	json_key_u64(j, "asked_bytes", s->asked_bytes);
	json_key_u64(j, "read_bytes", s->read_bytes);
	json_key_u64(j, "written_bytes", s->written_bytes);
	json_key_u64(j, "ns", s->ns);
	put_steps(j, "sizes", &s->sizes);
	put_steps(j, "durations_ns", &s->times);
}

static void put_frames(struct json *j, const struct io_view *v, const struct io_row *row)
{
	json_key(j, "frames");
	json_array(j);
	for (size_t i = 0; i < row->n_frames; i++) {
		json_object(j);
		report_json_function(j, &v->report, row->frames[i]);
		json_object_end(j);
	}
	json_array_end(j);
}

void io_json_print(const struct io_view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, &v->report, "io", out);
	for (size_t i = 0; i < v->n_shown; i++) {
		const struct io_row *row = &v->io.rows.at[v->order[i]];

		json_object(&j);
		json_key_str(&j, "name", row->name);
		if (v->by == IO_ROWS_BY_STACK)
			put_frames(&j, v, row);
		put_sums(&j, &row->sums);
		json_object_end(&j);
	}
	report_json_end(&j, &v->report);
}
