/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/command.h"
#include "cmd/record_options.h"
#include "cmd/under_option.h"

extern const struct command cmd_run;

static const struct option_spec run_options[] = {
	{ .name = "user",
	  .short_name = 'u',
	  .kind = OPTION_STRING,
	  .arg = "USER",
	  .text = "Run the command as that user (needs root); the recording is yours" },
	{ .name = "jit",
	  .kind = OPTION_FLAG,
	  .text = "Ask node, java and python (since 3.12) for the names of their "
		  "compiled "
		  "code" },
	OPTION_END,
};

/* Samples tell which way branches go, but not how often: what does comes along, unless
 * it was said what is to be recorded. */
static int suppose_anchors(const struct options *o, struct session_settings *x,
			   struct err *e)
{
	return x->insn && !options_count(o, "experiment")
		       ? record_options_suppose("anchors", x, e)
		       : 0;
}

static int run_run(struct options *o, struct err *e)
{
	struct session_settings settings;
	struct under_option under;
	int rc = record_options_take(o, &settings, e);

	if (rc == 0)
		rc = suppose_anchors(o, &settings, e);
	if (rc < 0)
		return rc;
	if (!options_argc(o))
		return err_set(e, ERR_USAGE,
			       "no command to run; for example: dwell run -- ls -l");
	settings.kind = SCOPE_LAUNCH;
	settings.argv = options_argv(o);
	settings.user = options_str(o, "user");
	settings.wants_jit = options_has(o, "jit");
	rc = under_option_take(o, settings.argv[0], &under, &settings, e);
	return rc < 0 ? rc : record_options_run(o, &settings, e);
}

const struct command cmd_run = {
	.name = "run",
	.usage = "[options] -- COMMAND [ARGUMENT]…",
	.summary = "Record a program and all its descendants",
	.description =
		"Runs COMMAND as it is, with your terminal, files and environment, and "
		"records where it and its descendants spend their time. The exit code is "
		"the command's own: 128 + N when signal N ended it, 127 when it was not "
		"found and 126 when it could not be run.\n\n"
		"Interrupting from the terminal interrupts the command; dwell keeps what "
		"was taken. A signal TERM to dwell closes the recording and leaves the "
		"command running. The recording ends with the command: processes that it "
		"leaves behind, such as daemons, are recorded until then and named at "
		"the "
		"end.",
	.options =
		(const struct option_spec *const[]){ record_options, run_options, NULL },
	.examples =
		(const struct command_example[]){
			{ "dwell run -- gcc -O2 -c big.c", "CPU time with call stacks" },
			{ "dwell run -i 1ms -- ./program", "a sample every millisecond" },
			{ "dwell run -e totaltime -- ./script.sh",
			  "waiting too, not only CPU time" },
			{ "dwell run -e usertime,faults -- ./program",
			  "two experiments at once" },
			{ "dwell run -e bbcounts -- ./program",
			  "how often each instruction was executed, exactly" },
			{ NULL, NULL } },
	.stop_early = true,
	.group = "record",
	.run = run_run,
};
