/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/regions_view.h"
#include "cmd/report_json.h"

#define NAME_MAX_BYTES 512

static void put_name(struct json *j, const struct regions_view *v, uint32_t function)
{
	char name[NAME_MAX_BYTES];

	region_rows_name(v->report.profile, function, name, sizeof(name));
	json_key_str(j, "name", name);
}

static void put_row(struct json *j, const struct regions_view *v,
		    const struct region_row *row)
{
	json_object(j);
	if (row->thread)
		json_key_str(j, "name", row->thread);
	else
		put_name(j, v, row->function);
	json_key_str(j, "kind",
		     row->thread       ? "thread"
		     : row->is_counter ? "counter"
				       : "region");
	json_key_u64(j, "depth", row->depth);
	json_key_u64(j, "calls", row->calls);
	json_key_u64(j, "subroutines", row->subroutines);
	json_key_u64(j, "exclusive", row->exclusive);
	json_key_u64(j, "inclusive", row->inclusive);
	if (row->is_counter)
		json_key_u64(j, "counted", row->counted);
	json_object_end(j);
}

static void put_slice(struct json *j, const struct regions_view *v,
		      const struct region_slice_row *row)
{
	const struct recording *r = profile_source(v->report.profile, row->source);

	json_object(j);
	put_name(j, v, row->function);
	json_key_u64(j, "source", row->source);
	json_key_u64(j, "time_ns", row->time_ns);
	json_key_str(j, "thread", recording_string(r, row->thread->name));
	json_key_u64(j, "tid", row->thread->tid);
	json_key_u64(j, "depth", row->depth);
	for (int i = 0; i < REGION_HISTORY_N_VALUES; i++)
		json_key_u64(j, region_history_names[i], row->values[i]);
	json_object_end(j);
}

void regions_json_print(const struct regions_view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, &v->report, "regions", out);
	for (size_t i = 0; i < v->n_shown; i++)
		if (v->has_history)
			put_slice(&j, v, &v->history.rows.at[i]);
		else
			put_row(&j, v, &v->rows.rows.at[v->order[i]]);
	report_json_end(&j, &v->report);
}
