/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/io_rows.h"
#include "cmd/command.h"
#include "cmd/io_view.h"
#include "cmd/report_options.h"

extern const struct command cmd_io;

static const struct option_spec own_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .arg = "WHAT",
	  .choices = "file|connection|call|stack|process|thread",
	  .default_text = "file",
	  .text = "What the rows are: files, pipes and sockets, connections to one "
		  "server or "
		  "from one host together; each connection; system calls; stacks of "
		  "those who called; processes or threads" },
	{ .name = "sort",
	  .short_name = 's',
	  .kind = OPTION_CHOICE,
	  .arg = "KEY",
	  .choices = "time|bytes|calls|errors",
	  .default_text = "time",
	  .text = "Show the rows first that have most of it" },
	{ .name = "histogram",
	  .kind = OPTION_FLAG,
	  .text = "Show how many calls moved how many bytes, and how many took how long; "
		  "--filter chooses which" },
	OPTION_END,
};

static int run(struct options *o, struct err *e)
{
	own(io_rows_fini) struct io_rows io = { 0 };

	return rows_view_run(&io_view, &io, o, e);
}

static const struct option_spec *const tables[] = { own_options, rows_view_options,
						    report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell io", "of the newest recording: which files take most time" },
	{ "dwell io --by call --sort bytes a.dwell", "which calls move most" },
	{ "dwell io --by stack a.dwell", "who calls" },
	{ "dwell io --histogram --filter 'function =~ \"/var/lib\"' a.dwell",
	  "of some files, how large the pieces are" },
	{ NULL, NULL },
};

const struct command cmd_io = {
	.name = "io",
	.usage = "[options] [RECORDING…]",
	.summary = "Show which files were read and written, how, and how long it took",
	.description =
		"Of recordings by the experiment io: every system call that reads, "
		"writes, opens or closes, with the bytes that it asked for and those "
		"that it moved, its time and its errors. Pipes and sockets are files, "
		"too. Average is what a call moved that did not fail; Longest, below "
		"which power of two the longest call took. Calls that move little of an "
		"ordinary file each, though all together could be done by few, are "
		"named below. What goes from one file to another in one call "
		"(sendfile, splice, copy_file_range) counts as read from the first. "
		"What is mapped into memory is read and written without calls. Where the "
		"kernel does not let an ordinary user load what sees all, wrappers in "
		"the "
		"program see the calls that it and its libraries make, and a line says "
		"what these miss.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
