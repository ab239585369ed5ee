/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/record_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/text.h"
#include "cmd/code_places.h"
#include "cmd/command.h"
#include "cmd/record_summary.h"
#include "collect/event_choice.h"
#include "collect/session_signals.h"

#define GLOBAL_NS UINT64_C(1000000000)

const struct option_spec record_options[] = {
	{ .name = "experiment",
	  .short_name = 'e',
	  .kind = OPTION_LIST,
	  .arg = "NAME",
	  .default_text = "usertime",
	  .text = "What to measure, like faults:100, cycles@997 or trigger:GROUP:NAME, "
		  "where that may be uprobe:FILE:FUNCTION or usdt:FILE:PROVIDER:NAME, "
		  "too; several at a time" },
	{ .name = "interval",
	  .short_name = 'i',
	  .kind = OPTION_STRING,
	  .arg = "TIME|N",
	  .default_text = "the experiment's own",
	  .text = "Time (or count of events) between samples: on, hi, lo, 500us, 1ms; a "
		  "time is for the experiments that sample time" },
	{ .name = "frequency",
	  .short_name = 'F',
	  .kind = OPTION_U64,
	  .arg = "HZ",
	  .min = 1,
	  .max = 100000,
	  .text = "The same as samples per second of CPU time, or of what the CPU "
		  "counts" },
	{ .name = "output",
	  .short_name = 'o',
	  .kind = OPTION_STRING,
	  .arg = "FILE",
	  .default_text = "PROGRAM.EXPERIMENT.PID.dwell",
	  .text = "The recording" },
	{ .name = "duration",
	  .short_name = 'd',
	  .kind = OPTION_DURATION,
	  .arg = "TIME",
	  .min = 1,
	  .unit = "s",
	  .text = "Stop recording after that time; the program goes on" },
	{ .name = "delay",
	  .kind = OPTION_DURATION,
	  .arg = "TIME",
	  .unit = "s",
	  .text = "Begin to take samples after that time" },
	{ .name = "pause",
	  .kind = OPTION_FLAG,
	  .text = "Begin paused, until --toggle or 'dwell ctl resume'" },
	{ .name = "toggle",
	  .kind = OPTION_STRING,
	  .arg = "SIGNAL",
	  .text = "This signal to dwell pauses and resumes" },
	{ .name = "global",
	  .short_name = 'S',
	  .kind = OPTION_DURATION,
	  .arg = "TIME",
	  .unit = "s",
	  .default_text = "1s",
	  .text = "Once in that time keep what the system counts of the program, which "
		  "ends an interval; 0: at the end only; see 'dwell global'" },
	{ .name = "mark",
	  .kind = OPTION_STRING,
	  .arg = "SIGNAL",
	  .text = "This signal to dwell marks the moment in the recording: it ends an "
		  "interval, as 'dwell ctl mark' does" },
	{ .name = "callstack-every",
	  .kind = OPTION_DURATION,
	  .arg = "TIME",
	  .min = 100000,
	  .unit = "s",
	  .text = "With regions: keep what is active, and what it has cost so far, so "
		  "often; see 'dwell regions --history'" },
	{ .name = "callstack-signal",
	  .kind = OPTION_STRING,
	  .arg = "SIGNAL",
	  .text = "With regions: the same whenever this signal comes to dwell" },
	{ .name = "follow",
	  .kind = OPTION_STRING,
	  .arg = "on|off|REGEX",
	  .default_text = "on",
	  .text = "Record descendants: all, none, or those whose name or command line "
		  "matches" },
	{ .name = "under",
	  .kind = OPTION_LIST,
	  .arg = "[FILE:]FUNCTION",
	  .text = "With bbcounts: count apart what is executed under that function, by "
		  "it "
		  "or by whatever it calls; of the program, or of another file; several "
		  "at "
		  "a time" },
	{ .name = "trace",
	  .kind = OPTION_FLAG,
	  .text = "Keep every event with its fields (faults: the address; heap: address "
		  "and size; fpe: types), of sync and io each wait and call at its time, "
		  "for 'dwell timeline' and 'dwell export chrome'" },
	{ .name = "sample",
	  .kind = OPTION_SIZE,
	  .arg = "BYTES",
	  .text = "With heap: observe one block for so many bytes, at random, and "
		  "estimate the rest; a program in production hardly notices (512k)" },
	{ .name = "threshold",
	  .kind = OPTION_DURATION,
	  .arg = "TIME",
	  .unit = "us",
	  .default_text = "six times what a call takes that need not wait",
	  .text = "With sync: shorter waits are only counted, and their time summed; 0: "
		  "none is" },
	{ .name = "flat",
	  .kind = OPTION_FLAG,
	  .text = "With io: no stacks; a call costs a third less (0.37 us instead of "
		  "0.57)" },
	{ .name = "insn",
	  .kind = OPTION_FLAG,
	  .text = "Also which way branches go, told by the registers of each sample; "
		  "for 'dwell calc'. 'dwell run' without -e also counts exactly now and "
		  "then, as by -e usertime,anchors" },
	{ .name = "source",
	  .kind = OPTION_STRING,
	  .arg = "NAME",
	  .default_text = "the best that is available",
	  .text = "How to observe, see 'dwell list'" },
	{ .name = "max-size",
	  .kind = OPTION_SIZE,
	  .arg = "SIZE",
	  .min = 1,
	  .text = "Let the recording grow no larger; what does not fit counts as lost" },
	{ .name = "comment",
	  .kind = OPTION_STRING,
	  .arg = "TEXT",
	  .text = "Keep a remark in the recording" },
	{ .name = "dry-run",
	  .short_name = 'n',
	  .kind = OPTION_FLAG,
	  .text = "Print every setting and record nothing" },
	{ .name = "quiet",
	  .short_name = 'q',
	  .kind = OPTION_FLAG,
	  .text = "Print nothing at the end but that not all could be written" },
	OPTION_END,
};

static int take_choice(const char *name, struct session_settings *ret, struct err *e)
{
	bool has_interval = false;
	int rc;

	if (ret->n_choices == SESSION_EXPERIMENTS_MAX)
		return err_set(e, ERR_USAGE, "at most %d experiments at a time",
			       SESSION_EXPERIMENTS_MAX);
	rc = event_choice_parse_any(name, code_places_find, &ret->choices[ret->n_choices],
				    &has_interval, e);
	ret->choices[ret->n_choices++].has_own_interval = has_interval;
	return rc;
}

static bool samples_time(const struct experiment_choice *c)
{
	return strcmp(c->experiment->unit, "ns") == 0;
}

/* An interval for all is none for a share of the time. */
static bool has_share(const struct experiment_choice *c)
{
	return strcmp(c->experiment->unit, "%") == 0;
}

static bool has_time_unit(const char *interval)
{
	uint64_t v;

	return text_parse_u64(interval, &v, NULL) < 0 &&
	       text_parse_duration(interval, "ms", &v, NULL) == 0;
}

/* A time or a frequency is meant for what samples time, when there is something that
 * does; what counts events then keeps its own interval. */
static int take_interval(const struct options *o, struct session_settings *ret,
			 struct err *e)
{
	const char *interval = options_str(o, "interval");
	uint64_t hz = options_u64(o, "frequency", 0);
	bool is_time = hz || (interval && has_time_unit(interval)), has_time = false;
	int rc = 0;

	if (interval && hz)
		return err_set(e, ERR_USAGE, "give either -i or -F, not both");
	for (size_t i = 0; i < ret->n_choices; i++)
		has_time |= samples_time(&ret->choices[i]);
	for (size_t i = 0; i < ret->n_choices && rc == 0; i++) {
		struct experiment_choice *c = &ret->choices[i];

		if (c->has_own_interval || has_share(c) ||
		    (is_time && has_time && !samples_time(c)))
			continue;
		if (interval)
			rc = experiment_set_interval(c, interval, e);
		if (rc == 0 && hz)
			rc = experiment_set_frequency(c, hz, e);
	}
	return rc;
}

static int take_experiments(const struct options *o, struct session_settings *ret,
			    struct err *e)
{
	size_t n = options_count(o, "experiment");
	int rc = n ? 0 : take_choice("usertime", ret, e);

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = take_choice(options_at(o, "experiment", i), ret, e);
	return rc == 0 ? take_interval(o, ret, e) : rc;
}

static int take_signal(const struct options *o, const char *option, int *ret,
		       struct err *e)
{
	const char *name = options_str(o, option);

	return name ? session_signals_parse(name, ret, e) : 0;
}

#define SAMPLE_BYTES_MIN UINT64_C(16)
#define SAMPLE_BYTES_MAX (UINT64_C(1) << 40)

static int check_sample_bytes(uint64_t bytes, struct err *e)
{
	return bytes >= SAMPLE_BYTES_MIN && bytes <= SAMPLE_BYTES_MAX
		       ? 0
		       : err_set(e, ERR_USAGE, "--sample is within 16 bytes and 1 TB");
}

static int take_signals(const struct options *o, struct session_signal_numbers *ret,
			struct err *e)
{
	int rc = take_signal(o, "toggle", &ret->toggle, e);

	if (rc == 0)
		rc = take_signal(o, "mark", &ret->mark, e);
	if (rc == 0)
		rc = take_signal(o, "callstack-signal", &ret->callstack, e);
	if (rc < 0)
		return rc;
	if ((ret->toggle && ret->toggle == ret->mark) ||
	    (ret->callstack &&
	     (ret->callstack == ret->toggle || ret->callstack == ret->mark)))
		return err_set(e, ERR_USAGE, "%s need different signals",
			       ret->callstack ? "--toggle, --mark and --callstack-signal"
					      : "--toggle and --mark");
	return 0;
}

int record_options_take(const struct options *o, struct session_settings *ret,
			struct err *e)
{
	*ret = (struct session_settings){
		.trace = options_has(o, "trace"),
		.sample_bytes = options_u64(o, "sample", 0),
		.is_flat = options_has(o, "flat"),
		.insn = options_has(o, "insn"),
		.wait_threshold_ns =
			options_u64(o, "threshold", SOURCE_THRESHOLD_MEASURED),
		.follow = options_str(o, "follow"),
		.source = options_str(o, "source"),
		.duration_ns = options_u64(o, "duration", 0),
		.delay_ns = options_u64(o, "delay", 0),
		.starts_paused = options_has(o, "pause"),
		.global_ns = options_u64(o, "global", GLOBAL_NS),
		.callstack_ns = options_u64(o, "callstack-every", 0),
		.output = options_str(o, "output"),
		.max_bytes = options_u64(o, "max-size", 0),
		.comment = options_str(o, "comment"),
		.version = DWELL_VERSION,
	};

	int rc = take_experiments(o, ret, e);

	if (rc == 0 && options_has(o, "sample"))
		rc = check_sample_bytes(ret->sample_bytes, e);
	if (rc == 0)
		rc = take_signals(o, &ret->signals, e);
	return rc;
}

int record_options_suppose(const char *experiment, struct session_settings *x,
			   struct err *e)
{
	int rc = take_choice(experiment, x, e);

	if (rc == 0)
		x->choices[x->n_choices - 1].is_supposed = true;
	return rc;
}

static void print_line(void *ctx, const char *name, const char *value)
{
	char safe[4096];

	(void)ctx;
	printf("%-20s %s\n", name, text_printable(safe, sizeof(safe), value));
}

/* The codes that a shell gives. */
static int program_exit_code(const struct session_outcome *o)
{
	if (!o->was_launched)
		return o->was_interrupted ? 128 + 15 : EXIT_OK;
	if (WIFSIGNALED(o->status))
		return 128 + WTERMSIG(o->status);
	return WEXITSTATUS(o->status);
}

static int exec_failure_code(const struct session_outcome *o, const struct err *e)
{
	fprintf(stderr, "dwell run: %s\n", e->text);
	return o->exec_errno == ENOENT ? 127 : 126;
}

int record_options_run(const struct options *o, const struct session_settings *settings,
		       struct err *e)
{
	own(session_freep) struct session *s = NULL;
	struct session_outcome outcome = { 0 };
	int rc = session_new(settings, &s, e);

	if (rc < 0)
		return rc;
	if (session_notice(s) && !options_has(o, "quiet"))
		fprintf(stderr, "dwell: %s\n", session_notice(s));
	if (session_unrecorded(s) && !options_has(o, "quiet"))
		fprintf(stderr, "dwell: not recorded: %s\n", session_unrecorded(s));
	if (options_has(o, "dry-run")) {
		session_describe(s, print_line, NULL);
		return EXIT_OK;
	}
	rc = session_run(s, &outcome, e);
	if (outcome.is_exec_failure)
		return exec_failure_code(&outcome, e);
	if (rc < 0)
		return rc;
	if (!options_has(o, "quiet"))
		record_summary_print(session_settings(s), &outcome, stderr);
	else
		record_summary_print_failure(&outcome, stderr);
	return settings->kind == SCOPE_LAUNCH ? program_exit_code(&outcome) : EXIT_OK;
}
