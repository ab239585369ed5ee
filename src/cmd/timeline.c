/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/mem.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_database.h"
#include "cmd/report_head.h"
#include "cmd/report_json.h"
#include "cmd/report_options.h"
#include "cmd/report_profile.h"
#include "cmd/report_quality.h"
#include "cmd/timeline_view.h"

extern const struct command cmd_timeline;

#define DEFAULT_ROWS 20
#define JSON_CELLS   100

static const struct option_spec own_options[] = {
	{ .name = "from",
	  .kind = OPTION_STRING,
	  .arg = "TIME",
	  .default_text = "0",
	  .text = "Begin that long after the recording did: 1.5s, 200ms" },
	{ .name = "to",
	  .kind = OPTION_STRING,
	  .arg = "TIME",
	  .default_text = "its end",
	  .text = "End that long after the recording began" },
	{ .name = "cells",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 10,
	  .max = 10000,
	  .default_text = "what fits, in JSON 100",
	  .text = "Divide the time into N cells" },
	REPORT_OPTIONS_LIMIT(DEFAULT_ROWS, "Show the N threads that ran most"),
	OPTION_END,
};

static int read_time(const struct options *o, const char *name, uint64_t *ret,
		     struct err *e)
{
	const char *text = options_str(o, name);
	int rc = text ? text_parse_duration(text, "s", ret, e) : 0;

	return rc < 0 ? err_in(e, rc, name) : 0;
}

static int read_range(const struct options *o, const struct report *r,
		      struct chronicle_range *ret, struct err *e)
{
	size_t fits = r->json ? JSON_CELLS : timeline_view_cells(r->width);
	int rc = read_time(o, "from", &ret->from_ns, e);

	if (rc == 0)
		rc = read_time(o, "to", &ret->to_ns, e);
	ret->n_cells = (size_t)options_u64(o, "cells", fits);
	return rc;
}

/* What was sampled within an epoch is counted together there. */
static int check_inputs(const struct report *r, struct err *e)
{
	for (size_t i = 0; r->database && i < r->n_paths; i++)
		if (r->database->epochs || r->database->said[i])
			return err_set(e, ERR_USAGE,
				       "a database does not keep when something was: "
				       "give recordings");
	return 0;
}

static int load(struct timeline_view *v, const struct report *r, size_t source,
		const struct options *o, struct err *e)
{
	size_t limit = report_options_limit(o, DEFAULT_ROWS);
	struct chronicle_range range = { 0 };
	int rc = read_range(o, r, &range, e);

	*v = (struct timeline_view){ .report = r, .source = source };
	if (rc == 0)
		rc = chronicle_load(&v->chronicle, r->profile, source, &range,
				    limit ? limit : SIZE_MAX, e);
	if (rc == 0)
		rc = chronicle_values_load(&v->values, &v->chronicle, r->profile, source,
					   e);
	v->n_shown = report_options_shown(limit, v->chronicle.threads.n);
	return rc;
}

static void print_json(const struct timeline_view *views, size_t n, FILE *out)
{
	struct json j;

	report_json_begin(&j, views[0].report, "timeline", out);
	for (size_t i = 0; i < n; i++)
		timeline_view_json(&views[i], &j);
	report_json_end(&j, views[0].report);
}

static void print_text(const struct timeline_view *views, size_t n, FILE *out)
{
	report_head_subjects(views[0].report, out);
	for (size_t i = 0; i < n; i++) {
		if (n > 1)
			fprintf(out, "%s%s\n", i ? "\n" : "", views[i].report->paths[i]);
		timeline_view_text(&views[i], out);
	}
	report_quality_print_gaps(views[0].report, out);
}

static int run(struct options *o, struct err *e)
{
	own(report_profile_close) struct report r = { 0 };
	int rc = report_profile_open(o, options_argv(o), NULL, &r, e);
	size_t n = rc == 0 ? profile_n_sources(r.profile) : 0;
	own(freep) struct timeline_view *views = xcalloc(n + 1, sizeof(*views));

	if (rc == 0)
		rc = check_inputs(&r, e);
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = load(&views[i], &r, i, o, e);
	if (rc == 0 && r.json)
		print_json(views, n, stdout);
	else if (rc == 0)
		print_text(views, n, stdout);
	for (size_t i = 0; i < n; i++) {
		chronicle_fini(&views[i].chronicle);
		chronicle_values_fini(&views[i].values);
	}
	return rc < 0 ? rc : report_profile_check_whole(&r, e);
}

static const struct option_spec *const tables[] = { own_options, report_options_input,
						    report_options_output, NULL };

static const struct command_example examples[] = {
	{ "dwell timeline", "of the newest recording: what each thread did, when" },
	{ "dwell timeline --from 2s --to 3s a.dwell", "one second of it, closer" },
	{ "dwell timeline --filter 'process == worker' --limit 0",
	  "all threads of one program" },
	{ "dwell run -e states -- ./server", "record where threads wait, too" },
	{ NULL, NULL },
};

const struct command cmd_timeline = {
	.name = "timeline",
	.usage = "[options] [RECORDING…]",
	.summary = "Show what each thread did, moment after moment",
	.description =
		"A row per thread, those that ran most first, with how much of the time "
		"that was; time goes from left to right. A character is what the thread "
		"did most of that moment: where it ran, the innermost function in which "
		"it was for more than half of the time that it ran then; where it "
		"waited, for what. It is the states of threads where they are recorded "
		"(-e states), else CPU time and waits (totaltime), I/O and locks, else "
		"regions. Beneath are what the heap held, what the system counted, each "
		"with its greatest value, and marks. What was summed while recording is "
		"spread evenly over the time "
		"that a sum is of, a second at most.\n\n"
		"--from and --to look closer; --filter chooses what is drawn, not from "
		"when to when. dwell export chrome makes a picture that can be zoomed.",
	.options = tables,
	.examples = examples,
	.group = "report",
	.run = run,
};
