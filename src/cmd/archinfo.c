/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/archinfo_data.h"
#include "cmd/archinfo_json.h"
#include "cmd/archinfo_text.h"
#include "cmd/command.h"
#include "cmd/report_options.h"

extern const struct command cmd_archinfo;

static const struct option_spec own_options[] = {
	REPORT_OPTIONS_LIMIT(ARCHINFO_DATA_ROWS, "Print at most N mnemonics"),
	OPTION_END,
};

static int run(struct options *o, struct err *e)
{
	own(archinfo_data_close) struct archinfo_data d = { 0 };
	int rc = archinfo_data_open(&d, o, e);

	if (rc < 0)
		return rc;
	(d.report.json ? archinfo_json_print : archinfo_text_print)(&d, stdout);
	return report_profile_check_whole(&d.report, e);
}

static const struct option_spec *const tables[] = { own_options, report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell archinfo", "of the newest recording" },
	{ "dwell archinfo --filter 'function == compress' a.dwell",
	  "what one function is made of" },
	{ NULL, NULL },
};

const struct command cmd_archinfo = {
	.name = "archinfo",
	.usage = "[options] [RECORDING]",
	.summary = "Show what instructions a program executes, and their registers",
	.description =
		"Of a recording by the experiment bbcounts: how many instructions of "
		"which kind and mnemonic were executed, how they address memory, "
		"where control goes, and how often each register is read, written "
		"and used in addresses. All numbers are exact.\n"
		"\n"
		"Each instruction is of one kind, by the work that it does; Loads and "
		"Stores tell, in percent of all instructions, those of a kind that do "
		"that as well. A memory operand that is pushed has two forms. Taken "
		"branches are jumps, calls and returns as well. Sites are the "
		"instructions that may go several Ways, of which each has so many in "
		"the mean; Usual is how often control went the way that it went most "
		"from that site.\n"
		"\n"
		"Registers are counted whole: al is rax, and writing it reads what "
		"else is in rax. What has the same result whatever is read, such as "
		"xor of a register with itself, does not read. With --filter there "
		"is no control flow, as it chooses instructions and no ways between "
		"them.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
