/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/path_choice.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/apart_options.h"
#include "cmd/command.h"
#include "cmd/record_options.h"
#include "cmd/under_option.h"
#include "host/cpus.h"

extern const struct command cmd_attach;

static const struct option_spec attach_options[] = {
	{ .name = "pid",
	  .short_name = 'p',
	  .kind = OPTION_LIST,
	  .arg = "PID",
	  .text = "Record these processes, all their threads and descendants" },
	{ .name = "tid",
	  .short_name = 't',
	  .kind = OPTION_LIST,
	  .arg = "TID",
	  .text = "Record single threads" },
	{ .name = "all",
	  .short_name = 'a',
	  .kind = OPTION_FLAG,
	  .text = "Record the whole machine (needs root)" },
	{ .name = "cpu",
	  .kind = OPTION_STRING,
	  .arg = "LIST",
	  .text = "Record all that runs on these CPUs, like 0-3,5 (needs root)" },
	{ .name = "per-process",
	  .kind = OPTION_REPEAT,
	  .arg = "IMAGE,…",
	  .text = "With -a and --cpu: tell apart only processes of these executables, by "
		  "name, path or pattern, and make all others of one name one" },
	{ .name = "per-cpu",
	  .kind = OPTION_FLAG,
	  .text = "With -a and --cpu: tell apart on which CPU a sample was taken" },
	OPTION_END,
};

struct targets {
	VEC(pid_t) ids;
	struct cpus cpus;
	struct apart apart;
	struct path_choice *chosen;
};

static void targets_fini(struct targets *t)
{
	vec_fini(&t->ids);
	cpus_fini(&t->cpus);
	path_choice_free(t->chosen);
}

/* Whoever is named twice is meant once. */
static void add_id(struct targets *t, pid_t id)
{
	for (size_t i = 0; i < t->ids.n; i++)
		if (t->ids.at[i] == id)
			return;
	*vec_push(&t->ids) = id;
}

static int take_ids(const struct options *o, const char *option, struct targets *t,
		    struct err *e)
{
	for (size_t i = 0; i < options_count(o, option); i++) {
		const char *text = options_at(o, option, i);
		uint64_t id;

		if (text_parse_u64(text, &id, NULL) < 0 || !id || id > INT32_MAX)
			return err_set(e, ERR_USAGE, "'%.40s' is no process or thread id",
				       text);
		if (kill((pid_t)id, 0) != 0 && errno == ESRCH)
			return err_set(e, ERR_OS, "there is no %s %s",
				       !strcmp(option, "tid") ? "thread" : "process",
				       text);
		add_id(t, (pid_t)id);
	}
	return 0;
}

static int take_targets(const struct options *o, struct session_settings *x,
			struct targets *t, struct err *e)
{
	bool has_cpu = options_has(o, "cpu"), has_all = options_has(o, "all");
	unsigned n = options_has(o, "pid") + options_has(o, "tid") + has_cpu + has_all;
	int rc = 0;

	if (n != 1)
		return err_set(e, ERR_USAGE,
			       "say what to record: one of -p PID, -t TID, -a or --cpu "
			       "LIST");
	x->kind = options_has(o, "pid")	  ? SCOPE_PROCESSES
		  : options_has(o, "tid") ? SCOPE_THREADS
					  : SCOPE_CPUS;
	if (has_cpu)
		rc = cpus_parse(&t->cpus, options_str(o, "cpu"), e) < 0 ? ERR_USAGE : 0;
	else if (!has_all)
		rc = take_ids(o, options_has(o, "pid") ? "pid" : "tid", t, e);
	x->pids = t->ids.at;
	x->n_pids = t->ids.n;
	x->cpus = t->cpus.ids.at;
	x->n_cpus = t->cpus.ids.n;
	return rc;
}

/* By processes and threads, unless it is to be less. */
static int take_apart(const struct options *o, struct session_settings *x,
		      struct targets *t, struct err *e)
{
	bool has_choice = options_has(o, "per-process");

	if (!has_choice && !options_has(o, "per-cpu"))
		return 0;
	if (x->kind != SCOPE_CPUS)
		return err_set(e, ERR_USAGE,
			       "--per-process and --per-cpu need -a or "
			       "--cpu LIST");
	x->apart = &t->apart;

	int rc = apart_options_take(o, &t->apart, &t->chosen, e);

	t->apart.processes = t->apart.threads = !has_choice;
	return rc;
}

static int run_attach(struct options *o, struct err *e)
{
	own(targets_fini) struct targets targets = { 0 };
	struct session_settings settings;
	struct under_option under;
	char exe[64];
	int rc = record_options_take(o, &settings, e);

	if (rc == 0 && options_argc(o))
		rc = err_set(e, ERR_USAGE,
			     "'%.60s' is too much; to record a command use 'dwell run'",
			     options_argv(o)[0]);
	if (rc == 0)
		rc = take_targets(o, &settings, &targets, e);
	if (rc == 0)
		rc = take_apart(o, &settings, &targets, e);
	if (rc == 0) {
		snprintf(exe, sizeof(exe), "/proc/%d/exe",
			 settings.n_pids ? settings.pids[0] : 0);
		rc = under_option_take(o, exe, &under, &settings, e);
	}
	return rc < 0 ? rc : record_options_run(o, &settings, e);
}

const struct command cmd_attach = {
	.name = "attach",
	.usage = "[options] -p PID",
	.summary = "Record a running process, or the machine, for a while",
	.description =
		"Records processes that already run, until they end, the time of -d is "
		"over, or you press Ctrl-C. The processes are not stopped and nothing is "
		"loaded into them, but by these experiments: the engine of bbcounts and "
		"anchors runs them in translation, meanwhile or now and then, and leaves "
		"them afterwards; heap, sync, fpe and regions, and io without privilege, "
		"lead their calls through a library of dwell's own, from which they are "
		"freed at the end.",
	.options = (const struct option_spec *const[]){ record_options, attach_options,
							NULL },
	.examples =
		(const struct command_example[]){
			{ "dwell attach -p 1234 -d 10", "ten seconds of process 1234" },
			{ "dwell attach -e totaltime -p 1234", "what it waits for, until "
							       "Ctrl-C" },
			{ "dwell attach -a -d 5", "everything on this machine" },
			{ "dwell attach -e bbcounts -p 1234 -d 50ms",
			  "how often each instruction was executed, exactly" },
			{ "dwell attach -e heap -p 1234 -d 1m",
			  "who takes memory now and does not give it back" },
			{ "dwell attach -e sync -p 1234 -d 10",
			  "who waits for which lock, and who holds it" },
			{ "dwell attach -e fpe -p 1234 -d 10",
			  "where it makes numbers that are none, or infinite" },
			{ "dwell attach -e regions -p 1234 -d 1m",
			  "how often it begins what it marks itself, and how long that "
			  "takes" },
			{ NULL, NULL } },
	.group = "record",
	.run = run_attach,
};
