/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_under.h"

#include "analyze/under.h"
#include "base/buf.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_json.h"
#include "cmd/report_table.h"
#include "cmd/report_text.h"
#include "cmd/report_value.h"

static void add_titles(const struct report *r, struct report_table *t)
{
	for (size_t i = 0; i < r->n_shown; i++) {
		own(buf_fini) struct buf title = { 0 };

		report_text_column(r, r->shown[i], &title);
		buf_puts(&title, "\nExact");
		report_table_number(t, buf_str(&title));
		report_table_number(t, "By calls");
	}
	report_table_name(t, "Inclusive, of what was chosen", 3);
	report_table_name(t, "Image", 2);
}

static void put_row(const struct report *r, struct report_table *t, const struct under *u,
		    size_t i)
{
	const struct profile_function *f = profile_function(r->profile, u->functions[i]);
	char s[TEXT_MAX];

	report_table_row(t, false);
	for (size_t k = 0; k < r->n_shown; k++) {
		size_t c = r->shown[k], at = i * u->n_columns + c;
		uint64_t total = profile_column(r->profile, c)->total_weight;

		report_table_cell(t, report_value_pct(s, u->exact[at], total));
		report_table_cell(t, report_value_pct(s, u->by_calls[at], total));
	}
	report_table_cell(t, f->label);
	report_table_cell(t, report_text_image(f));
}

void report_under_print(const struct report *r, FILE *out)
{
	own(under_fini) struct under u = { 0 };
	own(report_table_freep) struct report_table *t =
		report_table_new(r->width, command_terminal()->colour);

	under_sum(&u, r->profile);
	if (!u.n)
		return;
	add_titles(r, t);
	for (size_t i = 0; i < u.n; i++)
		put_row(r, t, &u, i);
	fputc('\n', out);
	report_table_print(t, out);
}

void report_under_json(struct json *j, const struct report *r)
{
	own(under_fini) struct under u = { 0 };

	under_sum(&u, r->profile);
	if (!u.n)
		return;
	json_key(j, "under");
	json_array(j);
	for (size_t i = 0; i < u.n; i++) {
		json_object(j);
		report_json_function(j, r, u.functions[i]);
		report_json_values(j, r, "exact", u.exact + i * u.n_columns);
		report_json_values(j, r, "by-calls", u.by_calls + i * u.n_columns);
		json_object_end(j);
	}
	json_array_end(j);
}
