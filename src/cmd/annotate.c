/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analyze/names.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/annotate_code.h"
#include "cmd/annotate_source.h"
#include "cmd/annotate_view.h"
#include "cmd/command.h"
#include "cmd/event_fit.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"

static const struct option_spec own_options[] = {
	{ .name = "show",
	  .kind = OPTION_CHOICE,
	  .arg = "WHAT",
	  .choices = "source|asm|mixed",
	  .default_text = "source where it is at hand, else asm",
	  .text = "Source lines, instructions, or instructions below their lines" },
	{ .name = "all",
	  .kind = OPTION_FLAG,
	  .text = "Also the parts of the function that have no samples" },
	{ .name = "intel", .kind = OPTION_FLAG, .text = "Intel's syntax for x86" },
	OPTION_END,
};

/* One event's sums: a piece of a line, and a row, of which the one that fits is shown. */
static void put_sums(const struct annotate_view *v, size_t c, struct table *t,
		     struct buf *line)
{
	const struct profile_column *column = profile_column(v->r->profile, c);
	char exclusive[TEXT_MAX], inclusive[TEXT_MAX], share[TEXT_MAX];
	own(buf_fini) struct buf name = { 0 };

	text_value(exclusive, v->totals.exclusive[c], column->unit);
	text_value(inclusive, v->totals.inclusive[c], column->unit);
	text_pct(share, (double)v->totals.inclusive[c], (double)column->total_weight);
	report_text_column(v->r, c, &name);
	buf_puts(line, line->size ? "; " : "  ");
	report_text_source(v->r, column->source, line);
	report_text_amount(line, column, v->totals.exclusive[c]);
	buf_printf(line, " exclusive, %s inclusive: %s of all", inclusive, share);
	table_row(t);
	table_cellf(t, "  %s", buf_str(&name));
	table_cellf(t, "%s exclusive", exclusive);
	table_cellf(t, "%s inclusive", inclusive);
	table_cellf(t, "%s of all", share);
}

/* "work  (server)  /src/work.c:12" and its sums. */
static void put_function(const struct annotate_view *v, FILE *out)
{
	static const struct table_column columns[] = {
		{ .align = TABLE_LEFT },
		{ .align = TABLE_RIGHT },
		{ .align = TABLE_RIGHT },
		{ .align = TABLE_RIGHT },
	};
	static const char here[] = ", 100 % here";
	own(table_freep) struct table *t = table_new(columns, 4);
	own(buf_fini) struct buf line = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < v->r->n_shown; i++)
		if (v->totals.inclusive[v->r->shown[i]]) {
			put_sums(v, v->r->shown[i], t, &line);
			n++;
		}
	report_head_function(v->r, v->function, out);
	if (n && text_width(buf_str(&line)) + text_width(here) <= v->r->width) {
		fprintf(out, "%s%s\n", buf_str(&line), here);
	} else if (n) {
		table_print(t, &(struct table_style){ .no_header = true }, out);
		fputs("  Shares below are of the inclusive values\n", out);
	}
	fputc('\n', out);
}

static void print_text(const struct annotate_view *v, const char *show,
		       const char *others, FILE *out)
{
	report_head_print(v->r, out);
	put_function(v, out);
	report_text_others(v->r, others, out);
	if (!show)
		show = annotate_source_is_available(v) ? "source" : "asm";
	if (strcmp(show, "source") == 0)
		annotate_source_print(v, out);
	else
		annotate_code_print(v, strcmp(show, "mixed") == 0, out);
	event_fit_print_rest(v->r, v->n_events, 0, out);
	report_quality_print(v->r, out);
}

static void print_json(const struct annotate_view *v, FILE *out)
{
	struct json j;

	report_json_begin(&j, v->r, "annotate", out);
	json_object(&j);
	report_json_function(&j, v->r, v->function);
	report_json_values(&j, v->r, "exclusive", v->totals.exclusive);
	report_json_values(&j, v->r, "inclusive", v->totals.inclusive);
	annotate_source_json(v, &j);
	annotate_code_json(v, &j);
	json_object_end(&j);
	report_json_end(&j, v->r);
}

static int run(struct options *o, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	struct annotate_view v;
	struct report_function f;
	int rc = report_profile_open_function(o, "annotate", NULL, &r, &f, e);

	if (rc != 0)
		return rc;
	annotate_view_init(&v, &r, f.id);
	v.all = options_has(o, "all");
	v.is_intel = options_has(o, "intel");
	if (r.json)
		print_json(&v, stdout);
	else
		print_text(&v, options_str(o, "show"), f.others, stdout);
	annotate_view_fini(&v);
	return quality_is_damaged(&r.quality) ? EXIT_ERROR : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options, report_options_ideal,
						    report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell annotate parse", "the source of parse with the time of every line" },
	{ "dwell annotate --show mixed --all parse", "every instruction below its line" },
	{ NULL, NULL },
};

const struct command cmd_annotate = {
	.name = "annotate",
	.usage = "[options] FUNCTION [RECORDING…]",
	.summary = "Show a function's source or code with the metrics of each line",
	.description =
		"Exclusive is what was spent on the line or instruction itself; "
		"inclusive "
		"adds what was spent in calls made from there. Lines are those of the "
		"function wherever it was inlined; what was inlined into a line is named "
		"below it. Lines with a tenth of the function's time or more are "
		"marked.\n\n"
		"Source is read from the recording (dwell archive), else from where the "
		"compiler saw it. Without it the instructions are shown.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
