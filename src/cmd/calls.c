/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "cmd/code_rows.h"
#include "cmd/command.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"

extern const struct command cmd_calls;

static const char *how(const struct code_graph_call *call)
{
	if (call->is_jump)
		return call->is_indirect ? "jump *" : "jump";
	return call->is_indirect ? "call *" : "call";
}

static void print_json(const struct code_rows *c)
{
	struct json j;

	report_json_begin(&j, &c->report, "calls", stdout);
	for (size_t i = 0; i < code_rows_shown(c, c->graph.calls.n); i++) {
		const struct code_graph_call *call = &c->graph.calls.at[i];

		json_object(&j);
		json_key_u64(&j, "times", call->times);
		json_key_bool(&j, "jump", call->is_jump);
		json_key_bool(&j, "indirect", call->is_indirect);
		code_rows_json_function(c, &j, "caller", call->caller);
		code_rows_json_function(c, &j, "callee", call->callee);
		json_object_end(&j);
	}
	report_json_end(&j, &c->report);
}

static void print_table(const struct code_rows *c)
{
	static const struct table_column columns[] = {
		{ .title = "Times", .align = TABLE_RIGHT },
		{ .title = "By" },
		{ .title = "Caller", .is_elastic = true },
		{ .title = "Callee", .is_elastic = true },
	};
	own(table_freep) struct table *t = table_new(columns, 4);
	char text[TEXT_MAX];

	for (size_t i = 0; i < code_rows_shown(c, c->graph.calls.n); i++) {
		const struct code_graph_call *call = &c->graph.calls.at[i];

		table_row(t);
		table_cell(t, text_count(text, call->times));
		table_cell(t, how(call));
		code_rows_function(c, t, call->caller);
		code_rows_function(c, t, call->callee);
	}
	code_rows_print(c, t, c->graph.calls.n);
}

static int run(struct options *o, struct err *e)
{
	return code_rows_run(o, print_json, print_table, e);
}

static const struct option_spec *const tables[] = { code_rows_options,
						    report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell calls", "of the newest recording" },
	{ "dwell calls --limit 0 a.dwell", "every pair of functions" },
	{ "dwell calls --filter 'function == main' a.dwell", "what main calls" },
	{ NULL, NULL },
};

const struct command cmd_calls = {
	.name = "calls",
	.usage = "[options] [RECORDING]",
	.summary = "Show which functions call which, and how often",
	.description =
		"Of a recording by the experiment bbcounts: how often each function "
		"came to each other one, by all processes together. A jump to "
		"another function's begin is a call whose return is left to the "
		"callee; * is an indirect one, by a pointer. Calls into shared "
		"libraries lead through a stub, NAME@plt, that jumps on. --filter "
		"chooses calls of each process, by the instruction that calls.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
