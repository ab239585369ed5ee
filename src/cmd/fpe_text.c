/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analyze/names.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/fpe_view.h"
#include "cmd/report_head.h"
#include "cmd/report_quality.h"
#include "cmd/report_table.h"
#include "cmd/report_text.h"

static bool is_by_type(const struct fpe_view *v)
{
	return strcmp(v->by, "type") == 0;
}

/* Where something is in it, in any row. */
static bool has_column(const struct fpe_view *v, unsigned event)
{
	return event == 0 || (v->total[event] && !is_by_type(v));
}

static void put_values(struct report_table *t, const struct fpe_view *v,
		       const uint64_t values[FPE_VIEW_EVENTS])
{
	char s[TEXT_MAX];

	for (unsigned i = 0; i < FPE_VIEW_EVENTS; i++)
		if (has_column(v, i))
			report_table_cell(t, values[i] ? text_count(s, values[i]) : "–");
}

static const char *text_of(const char *type)
{
	for (unsigned i = 0; i < FPE_VIEW_EVENTS; i++)
		if (strcmp(fpe_view_events[i].name, type) == 0)
			return fpe_view_events[i].text;
	return "";
}

static bool has_functions(const struct fpe_view *v)
{
	return strcmp(v->by, "line") == 0 || strcmp(v->by, "instruction") == 0;
}

static void put_place(struct report_table *t, const struct fpe_view *v,
		      const struct fpe_row *row)
{
	const struct dimension_label *label = &row->label;
	const struct profile *p = v->report.profile;
	char line[600], name[400];

	report_table_cell(t, row->name);
	if (is_by_type(v))
		report_table_cell(t, text_of(row->name));
	if (has_functions(v))
		report_table_cell(t,
				  label->function == MODEL_NONE
					  ? ""
					  : profile_function(p, label->function)->label);
	if (strcmp(v->by, "instruction") != 0)
		return;
	snprintf(line, sizeof(line), "%s:%u",
		 label->file ? text_printable(name, sizeof(name), names_base(label->file))
			     : "",
		 label->line);
	report_table_cell(t, label->file && label->line ? line : "");
}

static void put_columns(struct report_table *t, const struct fpe_view *v)
{
	for (unsigned i = 0; i < FPE_VIEW_EVENTS; i++)
		if (has_column(v, i))
			report_table_number(t, fpe_view_events[i].title);
	report_table_name(t, v->title, 3);
	if (is_by_type(v))
		report_table_text(t, "", 3);
	if (has_functions(v))
		report_table_name(t, "Function", 2);
	if (strcmp(v->by, "instruction") == 0)
		report_table_name(t, "Line", 1);
}

static void put_total(struct report_table *t, const struct fpe_view *v)
{
	report_table_row(t, true);
	put_values(t, v, v->total);
	report_table_cell(t, "<total>");
	for (int i = is_by_type(v) + has_functions(v) + !strcmp(v->by, "instruction"); i;
	     i--)
		report_table_cell(t, "");
}

static void print_rows(const struct fpe_view *v, FILE *out)
{
	own(report_table_freep) struct report_table *t =
		report_table_new(v->report.width, command_terminal()->colour);

	put_columns(t, v);
	put_total(t, v);
	for (size_t i = 0; i < v->n_shown; i++) {
		report_table_row(t, false);
		put_values(t, v, v->rows.at[i].values);
		put_place(t, v, &v->rows.at[i]);
	}
	report_table_print(t, out);
	if (v->n_shown < v->rows.n) {
		char left[TEXT_MAX];

		fprintf(out, "… %s more (--limit 0 shows all)\n",
			text_count(left, v->rows.n - v->n_shown));
	}
}

void fpe_text_print(const struct fpe_view *v, FILE *out)
{
	for (size_t i = 0; i < profile_n_sources(v->report.profile); i++)
		report_head_subject(&v->report, i, out);
	report_head_filter(&v->report, out);
	fputc('\n', out);
	if (!v->rows.n)
		fputs("No exception was raised.\n", out);
	else
		print_rows(v, out);
	report_quality_print(&v->report, out);
}
