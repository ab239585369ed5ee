/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_json.h"
#include "cmd/sync_view.h"

static void put_sums(struct json *j, const struct sync_sums *s)
{
	json_key_u64(j, "waits", s->n);
	json_key_u64(j, "ns", s->ns);
	json_key(j, "durations_ns");
	json_array(j);
	for (unsigned i = 0; i < sync_rows_end(s); i++) {
		if (!s->steps[i])
			continue;
		json_object(j);
		json_key_u64(j, "from", sync_rows_least(i));
		json_key_u64(j, "waits", s->steps[i]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_paths(struct json *j, const struct sync_view *v, const char *key,
		      const sync_paths *paths)
{
	json_key(j, key);
	json_array(j);
	vec_each(path, paths) {
		json_object(j);
		json_key_u64(j, "waits", path->n);
		json_key_u64(j, "ns", path->ns);
		json_key(j, "frames");
		json_array(j);
		for (size_t i = 0; i < path->n_frames; i++) {
			json_object(j);
			report_json_function(j, &v->report, path->frames[i]);
			json_object_end(j);
		}
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_row(struct json *j, const struct sync_view *v, const struct sync_row *row)
{
	json_object(j);
	json_key_str(j, "name", row->name);
	json_key_str(j, "kind", row->what);
	json_key_bool(j, "is_lock", row->is_lock);
	put_sums(j, &row->sums);
	put_paths(j, v, "waiters", &row->waiters);
	put_paths(j, v, "holders", &row->holders);
	json_object_end(j);
}

/* Behind the rows is what was too short: it closes their list, and the end of the report
 * its own. */
void sync_json_print(const struct sync_view *v, FILE *out)
{
	struct sync_short s = sync_rows_short(v->report.profile);
	size_t n[2] = { 0 };
	struct json j;

	report_json_begin(&j, &v->report, "sync", out);
	for (size_t i = 0; i < v->sync.rows.n; i++) {
		const struct sync_row *row = &v->sync.rows.at[v->order[i]];

		if (n[row->is_lock]++ < v->limit || !v->limit)
			put_row(&j, v, row);
	}
	json_array_end(&j);
	json_key(&j, "short_waits");
	json_array(&j);
	json_object(&j);
	json_key_u64(&j, "threshold_ns", s.threshold_ns);
	json_key_u64(&j, "waits", s.n);
	json_key_u64(&j, "ns", s.ns);
	json_object_end(&j);
	report_json_end(&j, &v->report);
}
