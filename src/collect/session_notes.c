/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_notes.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/text.h"
#include "collect/control_lines.h"
#include "collect/facts.h"
#include "host/clock.h"
#include "host/core_clock.h"
#include "host/cpus.h"
#include "host/procfs.h"

static void join_experiments(const struct session_settings *x, char separator,
			     struct buf *ret)
{
	for (size_t i = 0; i < x->n_choices; i++) {
		if (i)
			buf_u8(ret, (uint8_t)separator);
		buf_puts(ret, x->choices[i].name);
	}
}

/* What the recording is named after. */
static void program_name(const struct session_settings *x, char *s, size_t cap)
{
	struct procfs_stat stat;
	const char *name = "system";

	if (x->kind == SCOPE_LAUNCH)
		name = x->argv[0];
	else if (x->n_pids && procfs_stat(x->pids[0], &stat, NULL) == 0)
		name = stat.comm;
	else if (x->n_pids)
		name = "process";
	if (x->kind == SCOPE_LAUNCH && strrchr(name, '/'))
		name = strrchr(name, '/') + 1;
	snprintf(s, cap, "%.100s", *name ? name : "program");
}

void session_notes_path(const struct session_settings *x, pid_t pid, char *s, size_t cap)
{
	struct buf names = { 0 };
	char program[128];

	if (x->output) {
		snprintf(s, cap, "%s", x->output);
		return;
	}
	program_name(x, program, sizeof(program));
	join_experiments(x, '+', &names);
	if (x->kind != SCOPE_LAUNCH)
		pid = x->n_pids ? x->pids[0] : getpid();
	snprintf(s, cap, "%s.%s.%d.dwell", program, buf_str(&names), pid);
	for (char *c = s; *c; c++) /* events may have slashes, too */
		if (*c == '/' || (unsigned char)*c < ' ')
			*c = '_';
	buf_fini(&names);
}

static bool env_id(const char *name, uint32_t *ret)
{
	const char *text = getenv(name);
	uint64_t v;

	if (!text || text_parse_u64(text, &v, NULL) < 0 || v >= UINT32_MAX)
		return false;
	*ret = (uint32_t)v;
	return true;
}

void session_notes_owner(struct writer_options *options)
{
	options->has_owner = geteuid() == 0 && env_id("SUDO_UID", &options->uid) &&
			     env_id("SUDO_GID", &options->gid);
}

/* Of what has no interval, what it may cost. */
static void describe_rate(const struct experiment_choice *c, char *s, size_t cap)
{
	const char *unit = c->experiment->unit;
	char interval[TEXT_MAX];

	if (c->hz)
		snprintf(s, cap, "%llu a second", (unsigned long long)c->hz);
	else if (!strcmp(unit, "%"))
		snprintf(s, cap, "%llu %% of CPU time", (unsigned long long)c->interval);
	else
		snprintf(s, cap, "every %s", text_value(interval, c->interval, unit));
}

static void describe_plans(const struct session_settings *x, const struct plan *plans,
			   session_line_fn *fn, void *ctx)
{
	for (size_t i = 0; i < x->n_choices; i++) {
		const struct experiment *k = plans[i].choice.experiment;
		char rate[TEXT_MAX + 32], line[256];

		describe_rate(&plans[i].choice, rate, sizeof(rate));
		snprintf(line, sizeof(line), "%s, %s, by %s%s%s", plans[i].choice.name,
			 rate, plans[i].source->how(k, 0), plans[i].beside ? "; " : "",
			 plans[i].beside ? plans[i].beside->how(k, 0) : "");
		fn(ctx, "experiment", line);
	}
}

static void list_ids(const struct session_settings *x, struct buf *ret)
{
	for (size_t i = 0; i < x->n_pids; i++)
		buf_printf(ret, "%s%d", i ? ", " : "", x->pids[i]);
}

static void list_cpus(const struct session_settings *x, struct buf *ret)
{
	for (size_t i = 0; i < x->n_cpus; i++)
		buf_printf(ret, "%s%u", i ? ", " : "", x->cpus[i]);
}

static void describe_scope(const struct session_settings *x, session_line_fn *fn,
			   void *ctx)
{
	struct buf b = { 0 };

	switch (x->kind) {
	case SCOPE_LAUNCH:
		for (char *const *a = x->argv; *a; a++)
			buf_printf(&b, "%s%s", a == x->argv ? "" : " ", *a);
		fn(ctx, "command", buf_str(&b));
		break;
	case SCOPE_PROCESSES:
	case SCOPE_THREADS:
		list_ids(x, &b);
		fn(ctx, x->kind == SCOPE_THREADS ? "threads" : "processes", buf_str(&b));
		break;
	case SCOPE_CPUS:
		list_cpus(x, &b);
		fn(ctx, "CPUs", x->n_cpus ? buf_str(&b) : "all");
		break;
	}
	buf_fini(&b);
}

static const char *signal_name(int signal)
{
	return signal ? sigabbrev_np(signal) : "none";
}

static void describe_time(const struct session_settings *x, session_line_fn *fn,
			  void *ctx)
{
	char text[TEXT_MAX];

	fn(ctx, "duration",
	   x->duration_ns	     ? text_duration(text, x->duration_ns)
	   : x->kind == SCOPE_LAUNCH ? "until the command ends"
	   : x->kind == SCOPE_CPUS   ? "until interrupted"
				     : "until it ends or interrupted");
	fn(ctx, "delay", x->delay_ns ? text_duration(text, x->delay_ns) : "none");
	fn(ctx, "starts paused", x->starts_paused ? "yes" : "no");
	fn(ctx, "toggle signal", signal_name(x->signals.toggle));
	fn(ctx, "mark signal", signal_name(x->signals.mark));
	if (x->signals.callstack)
		fn(ctx, "callstack signal", signal_name(x->signals.callstack));
	if (x->callstack_ns)
		fn(ctx, "callstacks every", text_duration(text, x->callstack_ns));
}

void session_notes_describe(const struct session_settings *x, const struct scope *scope,
			    const struct plan *plans, session_line_fn *fn, void *ctx)
{
	char path[PATH_MAX], size[TEXT_MAX];
	struct writer_options owner = { 0 };

	(void)scope;
	describe_plans(x, plans, fn, ctx);
	describe_scope(x, fn, ctx);
	fn(ctx, "run as", x->user ? x->user : "yourself");
	fn(ctx, "follow descendants", x->follow ? x->follow : "on");
	fn(ctx, "flags for JIT names", x->wants_jit ? "set" : "not set");
	fn(ctx, "every event kept", x->trace ? "yes" : "no");
	fn(ctx, "directions of branches", x->insn ? "yes" : "no");
	describe_time(x, fn, ctx);
	session_notes_path(x, 0, path, sizeof(path));
	if (!x->output && x->kind == SCOPE_LAUNCH)
		snprintf(strrchr(path, '0'), 10, "PID.dwell");
	fn(ctx, "recording", path);
	fn(ctx, "size limit", x->max_bytes ? text_size(size, x->max_bytes) : "none");
	session_notes_owner(&owner);
	fn(ctx, "owned by", owner.has_owner ? getenv("SUDO_UID") : "yourself");
	fn(ctx, "comment", x->comment ? x->comment : "");
}

/* In the recording. */

static bool is_estimate(const struct plan *plan, unsigned column)
{
	return plan->sample_bytes && column < EXPERIMENT_HEAP_MAP_LEFT_BYTES &&
	       plan->choice.experiment->trigger == EXPERIMENT_HEAP;
}

void session_notes_events(struct writer *w, struct plan *plan)
{
	const struct experiment *x = plan->choice.experiment;

	for (unsigned i = 0; i < x->n_events; i++) {
		const struct experiment_event *ev = &x->events[i];
		struct model_event m = {
			.name = writer_string(w, ev->name),
			.unit = writer_string(w, ev->unit),
			.experiment = writer_string(w, plan->choice.name),
			.source = writer_string(w, plan->source->how(x, i)),
			.description = writer_string(w, ev->description),
			.flags = is_estimate(plan, i) ? EVENT_SAMPLED : ev->flags,
			.period = ev->is_periodic && !plan->choice.hz
					  ? plan->choice.interval
					  : 0,
		};

		if (!(m.flags & (EVENT_SAMPLED | EVENT_EXACT)))
			m.flags |= plan->choice.interval == 1 && !plan->choice.hz
					   ? EVENT_EXACT
					   : EVENT_SAMPLED;
		if (plan->source->sums && !(m.flags & EVENT_EACH))
			m.flags |= EVENT_SUMMED;
		plan->events[i] = writer_event(w, &m);
	}
}

static void note_start_time(struct writer *w, uint64_t start_ns)
{
	char text[64];
	uint64_t real = clock_read_ns(CLOCK_REALTIME);
	time_t seconds = (time_t)(real / 1000000000);
	struct tm tm;

	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S%z", localtime_r(&seconds, &tm));
	writer_info(w, "start-time", text);
	/* Both clocks at the same moment: times in the recording become dates. */
	snprintf(text, sizeof(text), "%llu", (unsigned long long)start_ns);
	writer_info(w, "start-monotonic-ns", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)real);
	writer_info(w, "start-realtime-ns", text);
}

void session_notes_machine(struct writer *w)
{
	struct utsname u;
	struct cpus cpus = { 0 };
	char text[256];

	if (uname(&u) == 0) {
		writer_info(w, "host", u.nodename);
		writer_info(w, "kernel", u.release);
		writer_info(w, "arch", u.machine);
	}
	cpus_model_name(text, sizeof(text));
	writer_info(w, "cpu", text);
	cpus_processor(text, sizeof(text));
	writer_info(w, "processor", text);
	snprintf(text, sizeof(text), "%u", core_clock_measure());
	writer_info(w, "clock-mhz", text);
	if (cpus_online(&cpus, NULL) == 0) {
		snprintf(text, sizeof(text), "%zu", cpus.ids.n);
		writer_info(w, "cpus", text);
	}
	cpus_fini(&cpus);
}

/* What reports say where a command would stand: "process 1234 (server)". */
static void note_target(struct writer *w, const struct session_settings *x)
{
	const char *one = x->kind == SCOPE_THREADS ? "thread" : "process";
	const char *many = x->kind == SCOPE_THREADS ? "threads" : "processes";
	struct procfs_stat stat;
	struct buf b = { 0 };

	if (x->kind == SCOPE_CPUS) {
		buf_puts(&b, x->n_cpus ? "CPU " : "the whole machine");
		list_cpus(x, &b);
	} else {
		buf_printf(&b, "%s ", x->n_pids == 1 ? one : many);
		list_ids(x, &b);
	}
	if (x->n_pids == 1 && procfs_stat(x->pids[0], &stat, NULL) == 0)
		buf_printf(&b, " (%s)", stat.comm);
	writer_info(w, "target", buf_str(&b));
	buf_fini(&b);
}

static void note_command(struct writer *w, const struct session_settings *x)
{
	struct buf b = { 0 };

	for (char *const *a = x->argv; *a; a++)
		buf_printf(&b, "%s%s", a == x->argv ? "" : " ", *a);
	writer_info(w, "command", buf_str(&b));
	buf_fini(&b);
}

static void note_line(void *ctx, const char *name, const char *value)
{
	struct buf *b = ctx;

	buf_printf(b, "%s%s: %s", b->size ? "\n" : "", name, value);
}

void session_notes_begin(struct writer *w, const struct session_settings *x,
			 const struct plan *plans, uint64_t start_ns)
{
	struct buf b = { 0 };
	char cwd[PATH_MAX];

	join_experiments(x, ',', &b);
	writer_info(w, "experiments", buf_str(&b));
	if (x->kind == SCOPE_LAUNCH)
		note_command(w, x);
	else
		note_target(w, x);
	buf_clear(&b);
	describe_plans(x, plans, note_line, &b);
	describe_scope(x, note_line, &b);
	describe_time(x, note_line, &b);
	writer_info(w, "settings", buf_str(&b));
	buf_fini(&b);
	if (x->options)
		writer_info(w, "options", x->options);
	if (x->comment)
		writer_info(w, "comment", x->comment);
	if (x->version)
		writer_info(w, "dwell-version", x->version);
	if (getcwd(cwd, sizeof(cwd)))
		writer_info(w, "directory", cwd);
	note_start_time(w, start_ns);
	session_notes_machine(w);
}

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static uint64_t not_negative(long v)
{
	return v > 0 ? (uint64_t)v : 0;
}

/* The file as others see it, wherever they are. */
static void add_path(const char *path, struct buf *lines)
{
	own(freep) char *whole = realpath(path, NULL);

	control_lines_add_text(lines, "path", whole ? whole : path);
}

void session_notes_status(const struct session_settings *x,
			  const struct session_progress *p, pid_t program, bool is_paused,
			  struct buf *lines)
{
	struct buf names = { 0 };

	join_experiments(x, ',', &names);
	control_lines_add(lines, "recorder", (uint64_t)getpid());
	if (x->kind == SCOPE_LAUNCH)
		control_lines_add(lines, "program", (uint64_t)program);
	add_path(p->path, lines);
	control_lines_add_text(lines, "experiments", buf_str(&names));
	control_lines_add(lines, "running-ns", p->taken_ns - p->start_ns);
	control_lines_add(lines, "samples", p->stats.samples);
	control_lines_add(lines, "lost", p->stats.lost);
	control_lines_add(lines, "bytes", p->bytes);
	control_lines_add(lines, "paused", is_paused);
	buf_fini(&names);
}

void session_notes_rusage(struct writer *w, const struct rusage *u,
			  struct session_outcome *o)
{
	o->has_rusage = true;
	o->user_ns = timeval_ns(u->ru_utime);
	o->system_ns = timeval_ns(u->ru_stime);
	facts_add(w, FACT_TARGET, "user-time", "ns", o->user_ns);
	facts_add(w, FACT_TARGET, "system-time", "ns", o->system_ns);
	facts_add(w, FACT_TARGET, "max-rss", "bytes", not_negative(u->ru_maxrss) * 1024);
	facts_add(w, FACT_TARGET, "minor-faults", "count", not_negative(u->ru_minflt));
	facts_add(w, FACT_TARGET, "major-faults", "count", not_negative(u->ru_majflt));
	facts_add(w, FACT_TARGET, "voluntary-switches", "count",
		  not_negative(u->ru_nvcsw));
	facts_add(w, FACT_TARGET, "involuntary-switches", "count",
		  not_negative(u->ru_nivcsw));
}

static void note_self(struct writer *w, struct session_outcome *o)
{
	struct rusage u;

	if (getrusage(RUSAGE_SELF, &u) != 0)
		return;
	o->self_cpu_ns = timeval_ns(u.ru_utime) + timeval_ns(u.ru_stime);
	o->self_max_rss_bytes = not_negative(u.ru_maxrss) * 1024;
	o->bytes = writer_bytes(w);
	facts_add(w, FACT_SELF, "cpu-time", "ns", o->self_cpu_ns);
	facts_add(w, FACT_SELF, "max-rss", "bytes", o->self_max_rss_bytes);
	facts_add(w, FACT_SELF, "bytes", "bytes", o->bytes);
}

void session_notes_unwritten(struct writer *w, const struct session_outcome *o)
{
	const struct err *why = &o->write_failure;
	char line[sizeof(why->text) + 2 * TEXT_MAX], after[TEXT_MAX];

	/* Where it was written nobody needs to be told who reads it. */
	snprintf(line, sizeof(line), "after %s: %s",
		 text_duration(after, o->write_failure_ns),
		 why->os ? strerror(why->os) : why->text);
	writer_info(w, "ends-early", line);
}

void session_notes_add(struct source_stats *sum, const struct source_stats *x)
{
	sum->samples += x->samples;
	sum->events += x->events;
	sum->lost += x->lost;
	for (unsigned i = 0; i < UNWIND_N_STOPS; i++)
		sum->stops[i] += x->stops[i];
	sum->throttled += x->throttled;
	sum->is_user_only |= x->is_user_only;
	if (!sum->trouble.code)
		sum->trouble = x->trouble;
	if (sum->cpu_ns) /* one source's CPU time is all of it */
		return;
	sum->cpu_ns = x->cpu_ns;
	sum->user_ns = x->user_ns;
	sum->system_ns = x->system_ns;
	sum->counted_cpu_ns = x->counted_cpu_ns;
}

void session_notes_end(struct writer *w, const struct tracker *t,
		       struct session_outcome *o)
{
	const uint64_t *stops = tracker_stops(t);

	for (unsigned i = 0; i < UNWIND_N_STOPS; i++) {
		uint64_t n = stops[i] + o->stats.stops[i];

		o->n_stacks += n;
		o->n_truncated += i == UNWIND_END ? 0 : n;
	}
	facts_add(w, FACT_TARGET, "wall-time", "ns", o->wall_ns);
	if (o->asleep_ns)
		facts_add(w, FACT_TARGET, "asleep-time", "ns", o->asleep_ns);
	if (o->stolen_ns)
		facts_add(w, FACT_TARGET, "stolen-time", "ns", o->stolen_ns);
	if (o->was_launched) {
		facts_add(w, FACT_TARGET, "exit-status", "count", (uint64_t)o->status);
		o->n_running = tracker_running(t, &o->running_pid);
		facts_loss(w, "running-processes", o->n_running);
	}
	facts_add(w, FACT_TARGET, "sampled-user-time", "ns", o->stats.user_ns);
	facts_add(w, FACT_TARGET, "sampled-system-time", "ns", o->stats.system_ns);
	if (o->stats.counted_cpu_ns)
		facts_add(w, FACT_TARGET, "counted-cpu-time", "ns",
			  o->stats.counted_cpu_ns);
	facts_add(w, FACT_RATE, "stacks", "count", o->n_stacks);
	facts_loss(w, "truncated-stacks", o->n_truncated);
	note_self(w, o);
}
