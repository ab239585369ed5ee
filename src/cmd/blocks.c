/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "base/text.h"
#include "cmd/code_rows.h"
#include "cmd/command.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"

extern const struct command cmd_blocks;

static const char *const ends[] = {
	[BLOCK_END_ON] = "on",
	[BLOCK_END_BRANCH] = "branch",
	[BLOCK_END_JUMP] = "jump",
	[BLOCK_END_CALL] = "call",
	[BLOCK_END_INDIRECT_JUMP] = "jump *",
	[BLOCK_END_INDIRECT_CALL] = "call *",
	[BLOCK_END_RETURN] = "return",
	[BLOCK_END_SYSCALL] = "syscall",
	[BLOCK_END_STOP] = "stop",
};

static const char *end_of(const struct code_graph_block *b)
{
	return b->end < sizeof(ends) / sizeof(ends[0]) ? ends[b->end] : "?";
}

static void print_json(const struct code_rows *c)
{
	struct json j;

	report_json_begin(&j, &c->report, "blocks", stdout);
	for (size_t i = 0; i < code_rows_shown(c, c->graph.blocks.n); i++) {
		const struct code_graph_block *b = &c->graph.blocks.at[i];

		json_object(&j);
		json_key_u64(&j, "times", b->times);
		json_key_u64(&j, "instructions", b->n_instructions);
		json_key_u64(&j, "bytes", b->size_bytes);
		if (b->cycles >= 0) {
			json_key(&j, "ideal_cycles");
			json_double(&j, b->cycles);
		}
		json_key_str(&j, "end", end_of(b));
		json_key_u64(&j, "address", b->address);
		code_rows_json_function(c, &j, "function", b->function);
		json_key_str(&j, "file", b->file);
		json_key_u64(&j, "line", b->line);
		json_object_end(&j);
	}
	report_json_end(&j, &c->report);
}

static void add_row(const struct code_rows *c, struct table *t,
		    const struct code_graph_block *b)
{
	const char *slash = b->file ? strrchr(b->file, '/') : NULL;
	char text[TEXT_MAX];

	table_row(t);
	table_cell(t, text_count(text, b->times));
	table_cellf(t, "%" PRIu32, b->n_instructions);
	if (b->cycles >= 0)
		table_cellf(t, "%.1f", b->cycles);
	else
		table_cell(t, "–");
	table_cell(t, end_of(b));
	table_cellf(t, "0x%" PRIx64, b->address);
	code_rows_function(c, t, b->function);
	if (b->file)
		table_cellf(t, "%s:%" PRIu32, slash ? slash + 1 : b->file, b->line);
	else
		table_cell(t, "");
}

static void print_table(const struct code_rows *c)
{
	static const struct table_column columns[] = {
		{ .title = "Entered", .align = TABLE_RIGHT },
		{ .title = "Instr.", .align = TABLE_RIGHT },
		{ .title = "Cycles", .align = TABLE_RIGHT },
		{ .title = "Ends by" },
		{ .title = "Address", .align = TABLE_RIGHT },
		{ .title = "Function", .is_elastic = true, .min_width = 12 },
		{ .title = "Line", .is_elastic = true, .min_width = 12 },
	};
	own(table_freep) struct table *t = table_new(columns, 7);

	for (size_t i = 0; i < code_rows_shown(c, c->graph.blocks.n); i++)
		add_row(c, t, &c->graph.blocks.at[i]);
	code_rows_print(c, t, c->graph.blocks.n);
}

static int run(struct options *o, struct err *e)
{
	return code_rows_run(o, print_json, print_table, e);
}

static const struct option_spec *const tables[] = { code_rows_options,
						    report_options_ideal,
						    report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell blocks", "of the newest recording" },
	{ "dwell blocks --limit 0 a.dwell", "all of them" },
	{ "dwell blocks --filter 'process == gzip' a.dwell",
	  "as often as processes of one program entered them" },
	{ NULL, NULL },
};

const struct command cmd_blocks = {
	.name = "blocks",
	.usage = "[options] [RECORDING]",
	.summary = "Show basic blocks by how often they were entered",
	.description =
		"Of a recording by the experiment bbcounts: each piece of code with "
		"one way in, how often it was entered, by all processes together, "
		"how many cycles it takes at best, by a machine model, behind the "
		"blocks that it follows, and how it ends; * is an indirect jump or call. "
		"Addresses are "
		"link-time, as nm and objdump print them. Blocks that overlap, "
		"because code is entered in its middle, are each told. --filter "
		"chooses blocks of each process, by their first instruction.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
