/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/code_rows.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_options.h"
#include "cmd/report_text.h"

#define DEFAULT_ROWS 30

const struct option_spec code_rows_options[] = {
	REPORT_OPTIONS_LIMIT(DEFAULT_ROWS, "Print at most N rows"),
	OPTION_END,
};

static int code_rows_open(struct code_rows *c, const struct options *o, struct err *e)
{
	int rc = report_profile_open(o, options_argv(o), NULL, &c->report, e);

	if (rc < 0)
		return rc;
	c->limit = report_options_limit(o, DEFAULT_ROWS);
	if (profile_n_sources(c->report.profile) != 1)
		return err_set(e, ERR_USAGE, "give one recording");
	if (!recording_n_basic_blocks(profile_source(c->report.profile, 0)))
		return err_set(e, ERR_UNSUPPORTED,
			       "%s has no basic blocks: record with 'dwell run -e "
			       "bbcounts'",
			       c->report.paths[0]);
	return code_graph_make(&c->graph, c->report.profile, 0, e);
}

static void code_rows_close(struct code_rows *c)
{
	code_graph_fini(&c->graph);
	report_profile_close(&c->report);
}

void code_rows_function(const struct code_rows *c, struct table *t, uint32_t function)
{
	struct symbolizer *s = profile_symbolizer(c->report.profile);
	const struct sym_function *f = symbolizer_function(s, function);
	const char *path = symbolizer_image_path(s, f->image);
	const char *slash = path ? strrchr(path, '/') : NULL;

	table_cellf(t, "%s (%s)", f->name, slash ? slash + 1 : path ? path : "?");
}

void code_rows_json_function(const struct code_rows *c, struct json *j, const char *key,
			     uint32_t function)
{
	struct symbolizer *s = profile_symbolizer(c->report.profile);
	const struct sym_function *f = symbolizer_function(s, function);

	json_key(j, key);
	json_object(j);
	json_key_str(j, "name", f->name);
	json_key_str(j, "image", symbolizer_image_path(s, f->image));
	json_object_end(j);
}

size_t code_rows_shown(const struct code_rows *c, size_t n)
{
	return report_options_shown(c->limit, n);
}

void code_rows_print(const struct code_rows *c, const struct table *t, size_t n)
{
	struct table_style style = { .width = c->report.width,
				     .colour = command_terminal()->colour };

	table_print(t, &style, stdout);
	report_text_more(n - code_rows_shown(c, n), stdout);
}

int code_rows_run(const struct options *o, void (*print_json)(const struct code_rows *c),
		  void (*print_table)(const struct code_rows *c), struct err *e)
{
	own(code_rows_close) struct code_rows c = { 0 };
	int rc = code_rows_open(&c, o, e);

	if (rc < 0)
		return rc;
	if (c.report.json)
		print_json(&c);
	else if (c.graph.blocks.n || c.graph.calls.n)
		print_table(&c);
	else
		report_text_nothing(&c.report, stdout);
	return report_profile_check_whole(&c.report, e);
}
