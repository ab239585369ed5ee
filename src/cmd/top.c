/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "analyze/filter.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/command.h"
#include "cmd/screen.h"
#include "cmd/top_head.h"
#include "cmd/top_screen.h"
#include "cmd/top_view.h"
#include "collect/control.h"
#include "collect/live.h"
#include "host/cpus.h"

extern const struct command cmd_top;

#define DEFAULT_DELAY_NS UINT64_C(2000000000)
#define DEFAULT_HZ	 1000
#define DEFAULT_ROWS	 20 /* of a text */

static const struct option_spec top_options[] = {
	{ .name = "delay",
	  .short_name = 'd',
	  .kind = OPTION_DURATION,
	  .arg = "TIME",
	  .unit = "s",
	  .min = 250000000,
	  .default_text = "2s",
	  .text = "Time between looks" },
	{ .name = "iterations",
	  .short_name = 'n',
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 1,
	  .text = "End after N looks" },
	{ .name = "batch",
	  .short_name = 'b',
	  .kind = OPTION_FLAG,
	  .text = "Print text, one look below the other, as is done where the output is "
		  "no "
		  "terminal" },
	{ .name = "by",
	  .kind = OPTION_CHOICE,
	  .arg = "WHAT",
	  .choices = TOP_VIEW_ROWS,
	  .default_text = "function",
	  .text = "What the rows are" },
	{ .name = "sort",
	  .short_name = 's',
	  .kind = OPTION_CHOICE,
	  .arg = "KEY",
	  .choices = TOP_VIEW_ORDERS,
	  .default_text = "exclusive",
	  .text = "Order of the rows" },
	{ .name = "window",
	  .short_name = 'w',
	  .kind = OPTION_CHOICE,
	  .arg = "TIME",
	  .choices = TOP_VIEW_WINDOWS,
	  .default_text = "interval",
	  .text = "Show the time since the last look, the last 10 seconds or the last "
		  "minute, or all that there is" },
	{ .name = "filter",
	  .kind = OPTION_STRING,
	  .arg = "EXPR",
	  .text = "Only samples for which EXPR holds, as in reports" },
	{ .name = "pid",
	  .short_name = 'p',
	  .kind = OPTION_LIST,
	  .arg = "PID",
	  .text = "Only these processes with their descendants, which one may do with "
		  "one's own without being root" },
	{ .name = "daemon",
	  .kind = OPTION_FLAG,
	  .text = "Show what the daemon takes, and nothing if there is none" },
	{ .name = "self",
	  .kind = OPTION_FLAG,
	  .text = "Take samples of one's own, even beside a daemon" },
	{ .name = "socket",
	  .kind = OPTION_STRING,
	  .arg = "PATH",
	  .default_text = CONTROL_SOCKET,
	  .text = "The daemon's socket" },
	{ .name = "frequency",
	  .short_name = 'F',
	  .kind = OPTION_U64,
	  .arg = "HZ",
	  .min = 1,
	  .max = 100000,
	  .default_text = "1000",
	  .text = "Samples of one's own per second of CPU time" },
	{ .name = "source",
	  .kind = OPTION_STRING,
	  .arg = "NAME",
	  .default_text = "the best that is permitted",
	  .text = "How to take them, see 'dwell list'" },
	{ .name = "limit",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .default_text = "20",
	  .text = "At most N rows in text; 0: all" },
	{ .name = "no-inline",
	  .kind = OPTION_FLAG,
	  .text = "Charge inlined functions to the function they are in" },
	{ .name = "mangled",
	  .kind = OPTION_FLAG,
	  .text = "Show C++ and Rust names as the linker knows them" },
	{ .name = "debug-dir",
	  .kind = OPTION_REPEAT,
	  .arg = "DIR",
	  .default_text = "/usr/lib/debug",
	  .text = "Look for separate debug files below DIR" },
	{ .name = "width",
	  .kind = OPTION_U64,
	  .arg = "COLUMNS",
	  .min = 40,
	  .max = 10000,
	  .default_text = "80",
	  .text = "Fit text into COLUMNS" },
	OPTION_END,
};

/* What the options say, in the form that others want. */
struct top {
	const char **debug_dirs;
	struct sym_options sym;
	VEC(pid_t) pids;
	char subject[100];
	struct live *live;
	struct top_feed *feed;
	struct top_view view;
};

static void top_fini(struct top *t)
{
	top_view_fini(&t->view);
	top_feed_free(t->feed);
	live_free(t->live);
	vec_fini(&t->pids);
	free(t->debug_dirs);
}

static unsigned index_of(const char *choices, const char *word)
{
	unsigned i = 0;
	size_t n = word ? strlen(word) : 0;

	for (const char *at = choices; word && *at; i++) {
		size_t length = strcspn(at, "|");

		if (length == n && strncmp(at, word, n) == 0)
			return i;
		at += length + (at[length] == '|');
	}
	return 0;
}

static int take_choice(const struct options *o, struct top_choice *c, struct err *e)
{
	const char *by = options_str(o, "by"), *filter = options_str(o, "filter");
	own(filter_freep) struct filter *parsed = NULL;

	c->by = dimension_find(by ? by : "function");
	c->order = (enum top_order)index_of(TOP_VIEW_ORDERS, options_str(o, "sort"));
	c->window = index_of(TOP_VIEW_WINDOWS, options_str(o, "window"));
	c->no_inline = options_has(o, "no-inline");
	if (!filter)
		return 0;
	if (strlen(filter) >= sizeof(c->filter))
		return err_set(e, ERR_LIMIT, "the filter is too long");
	strcpy(c->filter, filter);
	return filter_parse(filter, &parsed, e);
}

static int take_pids(const struct options *o, struct top *t, struct err *e)
{
	for (size_t i = 0; i < options_count(o, "pid"); i++) {
		const char *text = options_at(o, "pid", i);
		uint64_t id;

		if (text_parse_u64(text, &id, NULL) < 0 || !id || id > INT32_MAX)
			return err_set(e, ERR_USAGE, "'%.40s' is no process id", text);
		if (kill((pid_t)id, 0) != 0 && errno == ESRCH)
			return err_set(e, ERR_OS, "there is no process %s", text);
		*vec_push(&t->pids) = (pid_t)id;
	}
	if (t->pids.n == 1)
		snprintf(t->subject, sizeof(t->subject), "process %d", t->pids.at[0]);
	else
		snprintf(t->subject, sizeof(t->subject), "%zu processes", t->pids.n);
	t->view.subject = t->pids.n ? t->subject : NULL;
	return 0;
}

static void take_symbols(const struct options *o, struct top *t)
{
	size_t n = options_count(o, "debug-dir");

	if (n)
		t->debug_dirs = calloc(n + 1, sizeof(*t->debug_dirs));
	for (size_t i = 0; t->debug_dirs && i < n; i++)
		t->debug_dirs[i] = options_at(o, "debug-dir", i);
	t->sym = (struct sym_options){
		.debug_dirs = t->debug_dirs,
		.keep_mangled = options_has(o, "mangled"),
		.no_inline = options_has(o, "no-inline"),
		.no_debuginfod = true, /* nothing that is live waits for a server */
	};
}

static int start_own(const struct options *o, struct top *t, struct err *e)
{
	struct live_settings settings = {
		.hz = options_u64(o, "frequency", DEFAULT_HZ),
		.pids = t->pids.at,
		.n_pids = t->pids.n,
		.source = options_str(o, "source"),
	};

	return live_start(&settings, &t->live, e);
}

/* A daemon takes samples anyway: no need for more, unless it is asked for what a daemon
 * does not give. */
static int start(const struct options *o, struct top *t, struct err *e)
{
	const char *socket = options_str(o, "socket");
	bool is_own = options_has(o, "self") || options_has(o, "frequency") ||
		      options_has(o, "source") || t->pids.n;
	bool is_daemons = options_has(o, "daemon");

	if (is_own && is_daemons)
		return err_set(e, ERR_USAGE,
			       "--daemon shows the daemon's samples: --self, --pid, "
			       "--frequency and --source are of one's own");
	if (is_own)
		return start_own(o, t, e);
	socket = socket ? socket : CONTROL_SOCKET;
	if (is_daemons)
		return live_join(socket, &t->live, e);
	return live_join(socket, &t->live, NULL) == 0 ? 0 : start_own(o, t, e);
}

/* Text. */

static int print_look(struct top_view *v, size_t limit, struct err *e)
{
	int rc;

	top_view_fini(v);
	rc = top_feed_look(v->feed, e);
	if (rc == 0)
		rc = top_view_make(v, e);
	if (rc < 0)
		return rc;
	top_head_print(v, false, stdout);
	putchar('\n');
	if (v->rows.n_shown)
		top_view_print_rows(v, 0, limit ? limit : SIZE_MAX, stdout);
	else
		puts("No samples.");
	putchar('\n');
	return 0;
}

/* Until a look's time has come; who reads may have gone. */
static bool wait_for_look(uint64_t delay_ns)
{
	struct pollfd p = { .fd = STDOUT_FILENO };
	struct timespec t = { .tv_sec = (time_t)(delay_ns / 1000000000),
			      .tv_nsec = (long)(delay_ns % 1000000000) };

	return ppoll(&p, 1, &t, NULL) == 0;
}

static int run_batch(const struct options *o, struct top *t, uint64_t delay_ns,
		     struct err *e)
{
	uint64_t n = options_u64(o, "iterations", 0);
	int rc;

	t->view.width = (unsigned)options_u64(o, "width", command_terminal()->width);
	/* Where the first look's time begins. */
	rc = top_feed_look(t->feed, e);
	for (uint64_t i = 0; rc == 0 && (!n || i < n); i++) {
		if (top_feed_is_over(t->feed) || !wait_for_look(delay_ns))
			break;
		rc = print_look(&t->view, options_u64(o, "limit", DEFAULT_ROWS), e);
		if (fflush(stdout) != 0)
			break;
	}
	return rc < 0 ? rc : EXIT_OK;
}

static int run_top(struct options *o, struct err *e)
{
	own(top_fini) struct top t = { 0 };
	struct cpus cpus = { 0 };
	uint64_t delay_ns = options_u64(o, "delay", DEFAULT_DELAY_NS);
	int rc = take_choice(o, &t.view.choice, e);

	if (rc == 0 && options_argc(o))
		rc = err_set(e, ERR_USAGE, "'%.60s' is too much: a process is --pid PID",
			     options_argv(o)[0]);
	if (rc == 0)
		rc = take_pids(o, &t, e);
	if (rc == 0)
		rc = cpus_online(&cpus, e);
	t.view.n_cpus = (unsigned)cpus.ids.n;
	cpus_fini(&cpus);
	take_symbols(o, &t);
	if (rc == 0)
		rc = start(o, &t, e);
	if (rc < 0)
		return rc;
	t.view.feed = t.feed = top_feed_new(t.live, &t.sym);
	if (options_has(o, "batch") || !screen_is_possible())
		return run_batch(o, &t, delay_ns, e);
	return top_screen_run(&t.view, delay_ns, options_u64(o, "iterations", 0), e);
}

const struct command cmd_top = {
	.name = "top",
	.usage = "[options]",
	.summary = "Show live where the machine spends its time",
	.description =
		"Shows the functions, of all processes and the kernel, that took the "
		"CPUs' "
		"time since the last look, two seconds ago; or processes, threads, "
		"control groups, lines and more. The head tells how busy the machine is "
		"and what watching it takes. 'h' tells the keys: a function's callers "
		"and "
		"its code, a process's functions, filters, sorting, longer times.\n\n"
		"Where a daemon runs, what it takes is shown: it takes nothing twice, "
		"and "
		"its database is none the wiser. Else dwell takes samples of its own, "
		"which needs root: counted in the kernel by BPF programs or, where these "
		"are refused, by perf events. Processes of one's own need no root: "
		"--pid.\n\n"
		"The daemon keeps processes of one name together unless it was started "
		"with --per-process.",
	.options = (const struct option_spec *const[]){ top_options, NULL },
	.examples =
		(const struct command_example[]){
			{ "dwell top", "functions, each two seconds" },
			{ "dwell top --by process -d 1", "processes, every second" },
			{ "dwell top -p 1234 -w all", "one process, since the start" },
			{ "dwell top --batch -n 3 --limit 10", "three looks as text" },
			{ NULL, NULL } },
	.group = "report",
	.run = run_top,
};
