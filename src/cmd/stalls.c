/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"
#include "cmd/stalls_growth.h"
#include "cmd/stalls_view.h"

extern const struct command cmd_stalls;

#define DEFAULT_ROWS	20
#define DEFAULT_SECONDS 3

static const struct option_spec own_options[] = {
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .arg = "WHAT",
	  .choices = "cause|procedure|instruction",
	  .default_text = "cause",
	  .text = "What the rows are: parts of the time, functions, or the instructions "
		  "that stall most" },
	{ .name = "against",
	  .kind = OPTION_REPEAT,
	  .arg = "FILE",
	  .text = "A recording of another run, to see what grew; again for its counts, "
		  "else those of the first run are taken" },
	REPORT_OPTIONS_LIMIT(DEFAULT_ROWS, "Print at most N functions or instructions"),
	{ .name = "seconds",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 0,
	  .max = 100000,
	  .default_text = "3",
	  .text = "Look at functions for so many seconds of CPU time, those with most "
		  "time "
		  "first, and tell what was left out; 0: at all" },
	OPTION_END,
};

struct run {
	struct report r;
	struct stalls_view v;
};

static void run_fini(struct run *x)
{
	stalls_view_fini(&x->v);
	report_profile_close(&x->r);
}

static bool has_counts(const struct profile *p, size_t source)
{
	return recording_n_basic_blocks(profile_source(p, source)) > 0;
}

/* The name may be left out: then the first operand is a recording. */
static char *const *recordings_of(const struct options *o, const char **name)
{
	char *const *operands = options_argv(o);

	*name = NULL;
	if (!operands[0] || report_profile_is_file(operands[0]))
		return operands;
	*name = operands[0];
	return operands + 1;
}

static int make(const struct options *o, char *const *files,
		const struct stalls_choice *choice, struct run *x, struct err *e)
{
	int rc = report_profile_open(o, files, &report_profile_of_code, &x->r, e);

	return rc == 0 ? stalls_view_init(&x->v, &x->r, choice, e) : rc;
}

/* The other run's own recordings, with the first one's counts if it has none. */
static int make_other(const struct options *o, const struct run *first,
		      const struct stalls_choice *choice, struct run *x, struct err *e)
{
	size_t n = options_count(o, "against");
	own(freep) char **files = xcalloc(n + first->r.n_paths + 1, sizeof(*files));
	bool counts = false;
	int rc;

	for (size_t i = 0; i < n; i++)
		files[i] = (char *)options_at(o, "against", i);
	rc = report_profile_open(o, files, &report_profile_of_code, &x->r, e);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < profile_n_sources(x->r.profile); i++)
		counts |= has_counts(x->r.profile, i);
	if (counts)
		return stalls_view_init(&x->v, &x->r, choice, e);
	report_profile_close(&x->r);
	for (size_t i = 0; i < first->r.n_paths; i++)
		if (has_counts(first->r.profile, i))
			files[n++] = (char *)first->r.paths[i];
	return make(o, files, choice, x, e);
}

static bool is_estimated(const struct run *x)
{
	return x->v.how.is_estimated;
}

static void print_json(const struct run *x, const struct run *other,
		       const struct stalls_growth *growth, bool with_places)
{
	struct json j;

	report_json_begin(&j, &x->r, "stalls", stdout);
	if (other)
		stalls_json_print_two(&x->v, &other->v, growth, &j);
	else if (with_places)
		stalls_json_print_places(&x->v, &j);
	else
		stalls_json_print(&x->v, &j);
	report_json_end(&j, &x->r);
}

static void print_text(const struct run *x, const char *by)
{
	if (strcmp(by, "instruction") == 0)
		stalls_text_print_places(&x->v, stdout);
	else if (strcmp(by, "procedure") == 0)
		stalls_text_print_procedures(&x->v, stdout);
	else
		stalls_text_print(&x->v, stdout);
}

static int run_stalls(struct options *o, struct err *e)
{
	own(run_fini) struct run first = { 0 }, other = { 0 };
	own(stalls_growth_fini) struct stalls_growth sum = { 0 };
	struct stalls_growth *growth = NULL;
	const char *by = options_str(o, "by") ? options_str(o, "by") : "cause";
	bool is_json = options_has(o, "json"), is_two = options_has(o, "against");
	struct stalls_choice choice = {
		.model = options_str(o, "model"),
		.seconds = (double)options_u64(o, "seconds", DEFAULT_SECONDS),
		.limit = report_options_limit(o, DEFAULT_ROWS),
		.with_places = strcmp(by, "instruction") == 0,
	};
	char *const *files = recordings_of(o, &choice.name);
	int rc = report_profile_clock(o, &choice.clock_ghz, e);

	if (rc == 0 && is_two && strcmp(by, "cause") != 0)
		rc = err_set(e, ERR_USAGE, "--against compares causes, not --by %s", by);
	if (rc == 0)
		rc = make(o, files, &choice, &first, e);
	if (rc == 0 && is_two)
		rc = make_other(o, &first, &choice, &other, e);
	if (rc == 0 && is_two && (is_estimated(&first) || is_estimated(&other))) {
		growth = &sum;
		rc = stalls_growth_init(growth, &first.v, &other.v, &choice, e);
	}
	if (rc < 0)
		return rc;
	if (is_json)
		print_json(&first, is_two ? &other : NULL, growth, choice.with_places);
	else if (is_two)
		stalls_text_print_two(&first.v, &other.v, growth, stdout);
	else
		print_text(&first, by);
	return quality_is_damaged(&first.r.quality) ||
			       quality_is_damaged(&other.r.quality)
		       ? EXIT_ERROR
		       : EXIT_OK;
}

static const struct option_spec *const tables[] = { own_options, report_options_ideal,
						    report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell stalls",
	  "of the newest recording (dwell run --insn): why the whole program takes so "
	  "long, in ranges, as far as samples alone tell" },
	{ "dwell stalls parse", "the same of one function" },
	{ "dwell stalls time.dwell count.dwell",
	  "in numbers, with a recording of bbcounts" },
	{ "dwell stalls --by instruction libz.so.1 time.dwell count.dwell",
	  "the instructions of a library that stall most" },
	{ "dwell stalls fast.dwell count.dwell --against slow.dwell",
	  "which causes grew" },
	{ NULL, NULL },
};

const struct command cmd_stalls = {
	.name = "stalls",
	.usage = "[options] [FUNCTION|IMAGE|all] [RECORDING…]",
	.summary = "Show how much of the time was spent waiting, and for what",
	.description =
		"Cycles are shared among execution, as long as a machine model takes to "
		"let all instructions in; static stalls, which the same has in any "
		"case: for results, ports, the divider, atomic operations, and code "
		"behind branches; and dynamic stalls, the time beyond. Of each cause of "
		"these is told how much can be due to it at most, and how much can be "
		"due to nothing else. All parts add up to 100 %.\n\n"
		"How often comes from a recording of bbcounts of the same program, which "
		"is given beside the one of time. Without that it is estimated from what "
		"anchors counted now and then in that one, from a counter of "
		"instructions, or from the samples alone, and all parts are ranges: from "
		"what they are if all was executed as seldom as may be to as often.\n\n"
		"With --against of such runs it is also told what grew where, if both "
		"did the same work: then it was executed as often in both, and all that "
		"grew are stalls.\n\n"
		"A gain is what blocks took less than at best; sampling error what may "
		"be chance. 'dwell calc' shows the stalls of one function beside its "
		"instructions.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run_stalls,
};
