/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/fpe_view.h"
#include "cmd/report_json.h"

static void put_row(struct json *j, const struct fpe_view *v, const struct fpe_row *row)
{
	json_key_str(j, "name", row->name);
	if (row->label.function != MODEL_NONE) {
		json_key(j, "function");
		json_object(j);
		report_json_function(j, &v->report, row->label.function);
		json_object_end(j);
	}
	if (row->label.file)
		json_key_str(j, "file", row->label.file);
	if (row->label.line)
		json_key_u64(j, "line", row->label.line);
	if (row->label.address)
		json_key_u64(j, "address", row->label.address);
	for (unsigned i = 0; i < FPE_VIEW_EVENTS; i++)
		json_key_u64(j, fpe_view_events[i].name, row->values[i]);
}

void fpe_json_print(const struct fpe_view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, &v->report, "fpe", out);
	for (size_t i = 0; i < v->n_shown; i++) {
		json_object(&j);
		put_row(&j, v, &v->rows.at[i]);
		json_object_end(&j);
	}
	report_json_end(&j, &v->report);
}
