/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path_choice.h"
#include "base/text.h"
#include "cmd/apart_options.h"
#include "cmd/code_places.h"
#include "cmd/command.h"
#include "cmd/late_status.h"
#include "cmd/told.h"
#include "collect/continuous.h"
#include "collect/control.h"
#include "collect/control_lines.h"
#include "collect/event_choice.h"
#include "collect/session_signals.h"
#include "host/clock.h"
#include "host/privilege.h"

extern const struct command cmd_daemon;

#define DEFAULT_DATABASE "/var/lib/dwell"
#define DEFAULT_SEGMENT	 (UINT64_C(600) * 1000000000)
/* Service managers wait for a minute or more. */
#define DEFAULT_PATIENCE (UINT64_C(40) * 1000000000)
#define TICK_MS		 100
#define ROOM_MS		 1000 /* it is looked for that often */
#define NAME		 "dwell daemon"
#define STACK_FRAMES_MAX 192 /* that the kernel's side walks */
/* What is larger goes back to the system when it is freed: tables of large images. */
#define MALLOC_LARGE (128 << 10)

static const struct option_spec daemon_options[] = {
	{ .name = "db",
	  .kind = OPTION_STRING,
	  .arg = "DIR",
	  .default_text = DEFAULT_DATABASE,
	  .text = "The database; several machines may share it" },
	{ .name = "host",
	  .kind = OPTION_STRING,
	  .arg = "NAME",
	  .default_text = "this machine's name",
	  .text = "Write under that name" },
	{ .name = "label",
	  .kind = OPTION_STRING,
	  .arg = "TEXT",
	  .text = "Label of the epoch, if a new one is begun" },
	{ .name = "event",
	  .short_name = 'e',
	  .kind = OPTION_LIST,
	  .arg = "EVENT[:PERIOD|@HZ]",
	  .default_text = "cpu-clock",
	  .text = "What to sample, several at once: 'dwell list' shows the counters; "
		  "after a colon of how many one is a sample, after an at sign how "
		  "many a second; 'states': what every "
		  "thread waits for; 'sync': waits for each other that go through the "
		  "kernel; 'syscalls': every system call; "
		  "'trigger:GROUP:NAME': every time a tracepoint is met, where that may "
		  "be uprobe:FILE:FUNCTION or usdt:FILE:PROVIDER:NAME, too" },
	{ .name = "multiplex",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 1,
	  .max = SYSTEM_EVENTS_MAX,
	  .default_text = "as many as the CPU can count",
	  .text = "No more than that many events at a time: they take turns" },
	{ .name = "frequency",
	  .short_name = 'F',
	  .kind = OPTION_U64,
	  .arg = "HZ",
	  .min = 1,
	  .max = 100000,
	  .default_text = "5200, or 199 with --insn or where BPF is refused",
	  .text = "Samples per second of each CPU that is not idle" },
	{ .name = "fixed-period",
	  .kind = OPTION_FLAG,
	  .text = "Do not draw the time between samples anew all the time" },
	{ .name = "flat", .kind = OPTION_FLAG, .text = "No stacks: the place alone" },
	{ .name = "insn",
	  .kind = OPTION_FLAG,
	  .text = "Also which way branches go, and which memory is accessed, told by the "
		  "registers of each sample; for 'dwell calc --db'. Samples are fetched "
		  "one by one then, as where BPF is refused" },
	{ .name = "depth",
	  .kind = OPTION_U64,
	  .arg = "N",
	  .min = 1,
	  .max = STACK_FRAMES_MAX,
	  .default_text = "192",
	  .text = "No more than that many frames of user code, from the innermost on" },
	{ .name = "per-process",
	  .kind = OPTION_REPEAT,
	  .arg = "IMAGE,…",
	  .is_optional = true,
	  .text = "Tell processes of one name apart, by their pid: those of these "
		  "executables, by name, path or pattern, or all" },
	{ .name = "per-thread", .kind = OPTION_FLAG, .text = "Tell threads apart" },
	{ .name = "per-cpu",
	  .kind = OPTION_FLAG,
	  .text = "Tell apart on which CPU a sample was taken" },
	{ .name = "measure",
	  .kind = OPTION_FLAG,
	  .text = "Measure what samples take in the kernel, for 'dwell ctl status'" },
	{ .name = "drain",
	  .kind = OPTION_DURATION,
	  .arg = "TIME",
	  .unit = "s",
	  .min = 100000000,
	  .max = UINT64_C(60000000000),
	  .default_text = "1s",
	  .text = "Fetch what the kernel counted that often" },
	{ .name = "merge",
	  .kind = OPTION_DURATION,
	  .arg = "TIME",
	  .unit = "s",
	  .min = 1000000000,
	  .default_text = "10m",
	  .text = "Put what was taken into the database that often" },
	{ .name = "patience",
	  .kind = OPTION_DURATION,
	  .arg = "TIME",
	  .unit = "s",
	  .default_text = "40s",
	  .text = "When it is told to end, wait that long for what was taken to be part "
		  "of "
		  "the database; else it is after the next start" },
	{ .name = "keep",
	  .kind = OPTION_DURATION,
	  .arg = "TIME",
	  .unit = "s",
	  .text = "Remove what is older" },
	{ .name = "keep-size",
	  .kind = OPTION_SIZE,
	  .arg = "SIZE",
	  .text = "Remove the oldest when there is more" },
	{ .name = "keep-symbols",
	  .kind = OPTION_SIZE,
	  .arg = "SIZE",
	  .text = "Keep the symbols of all programs and libraries that run, as much as "
		  "that, so that functions have names when the files are gone" },
	{ .name = "no-pins",
	  .kind = OPTION_FLAG,
	  .text = "Do not let the kernel go on counting when this is killed" },
	{ .name = "unpin",
	  .kind = OPTION_FLAG,
	  .text = "Remove what a killed daemon of this database left in the kernel, and "
		  "end" },
	{ .name = "socket",
	  .kind = OPTION_STRING,
	  .arg = "PATH",
	  .default_text = CONTROL_SOCKET,
	  .text = "Where 'dwell ctl' finds the daemon" },
	OPTION_END,
};

struct daemon {
	struct continuous *continuous; /* NULL: there is no room to begin */
	struct control *control;
	int signals;
	bool is_over;
	bool has_failed; /* at the last that it was asked for */
	struct err why;	 /* there is no room to begin */
	struct told told;
};

static void daemon_fini(struct daemon *d)
{
	closep(&d->signals);
	control_free(d->control);
	continuous_free(d->continuous);
}

/* So that whoever is told where it is can go there from anywhere. */
static char *absolute(const char *path)
{
	char cwd[PATH_MAX];

	if (*path == '/' || !getcwd(cwd, sizeof(cwd)))
		return xstrdup(path);
	return xasprintf("%s/%s", cwd, path);
}

static void take_settings(const struct options *o, const char *database,
			  struct continuous_settings *s)
{
	*s = (struct continuous_settings){
		.database = database,
		.host = options_str(o, "host"),
		.label = options_str(o, "label"),
		.n_at_once = (uint32_t)options_u64(o, "multiplex", 0),
		.is_fixed = options_has(o, "fixed-period"),
		.is_flat = options_has(o, "flat"),
		.insn = options_has(o, "insn"),
		.depth = (uint32_t)options_u64(o, "depth", 0),
		.drain_ns = options_u64(o, "drain", 0),
		.is_timed = options_has(o, "measure"),
		.has_pins = !options_has(o, "no-pins"),
		.apart = { .threads = options_has(o, "per-thread"),
			   .cpus = options_has(o, "per-cpu") },
		.maker = "segments",
		.patience_ns = options_u64(o, "patience", DEFAULT_PATIENCE),
		.segment_ns = options_u64(o, "merge", DEFAULT_SEGMENT),
		.retention = { .max_age_s =
				       (int64_t)(options_u64(o, "keep", 0) / 1000000000),
			       .max_bytes = options_u64(o, "keep-size", 0) },
		.symbols_max_bytes = options_u64(o, "keep-symbols", 0),
	};
	if (options_has(o, "frequency"))
		s->period_ns = 1000000000 / options_u64(o, "frequency", 0);
}

static bool is_chosen(const struct continuous_settings *s,
		      const struct experiment_choice *c)
{
	for (size_t i = 0; i < s->n_events; i++)
		if (!strcmp(s->events[i].experiment->events[0].name,
			    c->experiment->events[0].name))
			return true;
	return false;
}

static int take_events(const struct options *o, struct continuous_settings *s,
		       struct err *e)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < options_count(o, "event"); i++) {
		struct experiment_choice c;

		if (s->n_events == SYSTEM_EVENTS_MAX)
			return err_set(e, ERR_USAGE, "at most %d events",
				       SYSTEM_EVENTS_MAX);
		rc = event_choice_parse(options_at(o, "event", i), s->period_ns,
					s->is_flat, code_places_find, &c, e);
		if (rc == 0 && is_chosen(s, &c))
			return err_set(e, ERR_USAGE, "'%.40s' is asked for twice",
				       options_at(o, "event", i));
		if (rc == 0)
			s->events[s->n_events++] = c;
	}
	return rc;
}

static int take_signals(struct daemon *d, struct err *e)
{
	sigset_t set;

	session_signals_ignore();
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	d->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return d->signals < 0 ? err_os(e, "cannot take signals") : 0;
}

/* The cost that a part of all samples, in thousandths, does not exceed; 0: not known. */
static uint64_t cost_ns(const struct stack_record_stats *k, uint64_t per_mille)
{
	uint64_t n = 0, sum = 0;

	for (unsigned i = 0; i < STACK_RECORD_COST_STEPS; i++)
		n += k->cost_steps[i];
	for (unsigned i = 0; n && i < STACK_RECORD_COST_STEPS; i++) {
		sum += k->cost_steps[i];
		if (sum * 1000 >= n * per_mille)
			return (i + 1) * STACK_RECORD_COST_NS;
	}
	return 0;
}

static void mean_line(struct buf *b, const char *name, uint64_t sum, uint64_t n)
{
	control_lines_add(b, name, n ? sum / n : 0);
}

/* What samples took in the kernel; all 0 unless that is measured. */
static void print_costs(const struct stack_record_stats *k, struct buf *b)
{
	control_lines_add(b, "sample-ns-median", cost_ns(k, 500));
	control_lines_add(b, "sample-ns-p90", cost_ns(k, 900));
	mean_line(b, "sample-ns-mean", k->took_ns, k->samples);
	mean_line(b, "hit-ns-mean", k->hit_ns, k->hits);
	mean_line(b, "miss-ns-mean", k->miss_ns, k->samples - k->hits);
}

/* What a killed one had left; what this one would. */
static void print_keeping(const struct continuous_status *s, struct buf *b)
{
	const struct recorder_left *left = s->left;

	control_lines_add_text(b, "unkept", s->recorder.unkept ? s->recorder.unkept : "");
	control_lines_add_text(b, "removed",
			       s->recorder.removed ? s->recorder.removed : "");
	if (!left)
		return;
	control_lines_add(b, "taken-over", 1);
	control_lines_add(b, "gap-ns", left->gap_ns);
	control_lines_add(b, "gap-samples", left->samples);
	control_lines_add(b, "gap-lost", left->lost);
	control_lines_add(b, "gap-ended", left->has_ended);
	control_lines_add(b, "gap-summed", left->is_summed);
}

/* That goes on, or the last one; and what waits because of it. */
static void print_trouble(const struct continuous_status *s, struct buf *b)
{
	const struct trouble *t = s->trouble;
	uint64_t now_ns = clock_monotonic_ns();

	control_lines_add(b, "waiting-bytes", s->waiting_bytes);
	control_lines_add(b, "waiting-recordings", s->n_waiting);
	control_lines_add(b, "troubles", t->n);
	if (!t->n)
		return;
	control_lines_add(b, "trouble", t->is_on);
	control_lines_add_text(b, "trouble-text", t->why.text);
	control_lines_add(b, "trouble-ns", trouble_lasted_ns(t, now_ns));
	control_lines_add(b, "trouble-ago-ns", t->is_on ? 0 : now_ns - t->ended_ns);
	control_lines_add(b, "trouble-bytes", t->waiting_bytes);
}

/* What is known only where the kernel counts. */
static void print_counted(const struct recorder_status *s, struct buf *b)
{
	const struct recorder_counted *c = &s->counted;

	control_lines_add(b, "hits", c->kernel.hits);
	control_lines_add(b, "evicted", c->kernel.evicted);
	control_lines_add(b, "missed", c->kernel.missed);
	control_lines_add(b, "stolen", c->kernel.stolen);
	control_lines_add(b, "not-loaded", s->stops[UNWIND_NOT_LOADED]);
	control_lines_add(b, "images", c->n_images);
	control_lines_add(b, "images-gone", c->n_gone);
	control_lines_add(b, "images-unnumbered", c->n_unnumbered);
	control_lines_add(b, "images-again", c->n_again);
	print_costs(&c->kernel, b);
	late_status_add(b, &c->late);
}

static void print_apart(const struct continuous_status *s, struct buf *b)
{
	struct buf text = { 0 };

	apart_options_describe(s->apart, &text);
	control_lines_add_text(b, "apart", buf_str(&text));
	buf_fini(&text);
}

/* What is recorded beside samples, and how often it was. */
static void print_beside(const struct recorder_status *s, struct buf *b)
{
	char name[32];

	control_lines_add(b, "states", s->n_states);
	control_lines_add(b, "waits", s->n_waits);
	if (s->has_calls)
		control_lines_add(b, "calls", s->n_calls);
	for (size_t i = 0; i < s->n_triggers; i++) {
		snprintf(name, sizeof(name), "probe-%zu", i + 1);
		control_lines_add_text(b, name,
				       s->triggers[i]->experiment.events[0].name);
		snprintf(name, sizeof(name), "met-%zu", i + 1);
		control_lines_add(b, name, s->n_met[i]);
	}
}

/* Numbers and texts by name, for 'dwell ctl status' to put into words. */
static void print_status(const struct daemon *d, struct buf *b)
{
	struct continuous_status s;

	continuous_status(d->continuous, &s);
	control_lines_add(b, "pid", (uint64_t)getpid());
	control_lines_add(b, "running-ns", s.running_ns);
	control_lines_add_text(b, "how", s.how);
	control_lines_add_text(b, "notice", s.notice);
	control_lines_add(b, "period-ns", s.period_ns);
	control_lines_add(b, "epoch", s.epoch);
	control_lines_add_text(b, "label", s.label);
	control_lines_add(b, "samples", s.recorder.samples);
	print_beside(&s.recorder, b);
	control_lines_add(b, "lost", s.recorder.lost);
	control_lines_add(b, "no-mapping", s.recorder.stops[UNWIND_NO_MAP]);
	control_lines_add(b, "stored", s.recorder.stored);
	control_lines_add(b, "cpu-ns", s.cpu_ns);
	control_lines_add(b, "longest-gap-ns", s.recorder.longest_gap_ns);
	control_lines_add(b, "own-bytes", s.own_bytes);
	control_lines_add(b, "segment-peak-bytes", s.maker_peak_bytes);
	control_lines_add(b, "kernel-bytes", s.recorder.kernel_bytes);
	control_lines_add(b, "database-bytes", s.database_bytes);
	control_lines_add(b, "symbols-bytes", s.symbols_bytes);
	control_lines_add(b, "grown-bytes",
			  s.database_bytes > s.bytes_at_start
				  ? s.database_bytes - s.bytes_at_start
				  : 0);
	control_lines_add(b, "segments", s.makers->segments);
	control_lines_add(b, "makers", s.makers->started);
	control_lines_add(b, "makers-failed", s.makers->failed);
	control_lines_add(b, "makers-killed", s.makers->killed);
	control_lines_add(b, "makers-ended", s.makers->ended);
	control_lines_add(b, "failures", s.n_failures);
	control_lines_add(b, "damaged", s.n_damaged);
	control_lines_add(b, "paused", s.is_paused);
	print_apart(&s, b);
	print_trouble(&s, b);
	print_keeping(&s, b);
	if (s.recorder.is_counted)
		print_counted(&s.recorder, b);
}

/* What a client may ask for. */

static int do_status(struct daemon *d, unused const char *rest, struct buf *answer,
		     unused struct err *e)
{
	print_status(d, answer);
	return 0;
}

/* Where what was taken until now can be read, for 'dwell top'. */
static int do_recent(struct daemon *d, unused const char *rest, struct buf *answer,
		     struct err *e)
{
	struct continuous_recent r;
	int rc = continuous_recent(d->continuous, &r, e);

	if (rc < 0)
		return rc;
	control_lines_add_text(answer, "path", r.path);
	control_lines_add_text(answer, "note", r.refusal);
	control_lines_add(answer, "opened-ns", r.opened_ns);
	control_lines_add(answer, "taken-ns", r.taken_ns);
	control_lines_add(answer, "period-ns", r.period_ns);
	control_lines_add(answer, "has-processes", r.has_processes);
	control_lines_add(answer, "lost", r.lost);
	control_lines_add(answer, "cpu-ns", r.cpu_ns);
	control_lines_add(answer, "own-bytes", r.own_bytes);
	control_lines_add(answer, "kernel-bytes", r.kernel_bytes);
	return 0;
}

static int do_flush(struct daemon *d, unused const char *rest, unused struct buf *answer,
		    struct err *e)
{
	return continuous_flush(d->continuous, e);
}

static int do_epoch(struct daemon *d, const char *rest, unused struct buf *answer,
		    struct err *e)
{
	return continuous_epoch(d->continuous, *rest ? rest : NULL, e);
}

static int do_label(struct daemon *d, const char *rest, unused struct buf *answer,
		    struct err *e)
{
	return continuous_label(d->continuous, rest, e);
}

static int do_pause(struct daemon *d, unused const char *rest, unused struct buf *answer,
		    unused struct err *e)
{
	continuous_pause(d->continuous, true);
	return 0;
}

static int do_resume(struct daemon *d, unused const char *rest, unused struct buf *answer,
		     unused struct err *e)
{
	continuous_pause(d->continuous, false);
	return 0;
}

static int do_quit(struct daemon *d, unused const char *rest, unused struct buf *answer,
		   struct err *e)
{
	d->is_over = true;
	return continuous_stop(d->continuous, e);
}

static const struct {
	const char *verb;
	int (*run)(struct daemon *d, const char *rest, struct buf *answer, struct err *e);
} requests[] = {
	{ "epoch", do_epoch },	 { "flush", do_flush },	  { "label", do_label },
	{ "pause", do_pause },	 { "quit", do_quit },	  { "recent", do_recent },
	{ "resume", do_resume }, { "status", do_status },
};

/* Before there is room for a database. */
static int do_waiting(struct daemon *d, const char *verb, struct err *e)
{
	if (strcmp(verb, "quit") == 0) {
		d->is_over = true;
		return 0;
	}
	return err_set(e, ERR_OS, "the daemon waits for room to begin: %.400s",
		       d->why.text);
}

static int on_request(void *ctx, const char *verb, const char *rest, struct buf *answer,
		      struct err *e)
{
	if (!((struct daemon *)ctx)->continuous)
		return do_waiting(ctx, verb, e);
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (!strcmp(requests[i].verb, verb))
			return requests[i].run(ctx, rest, answer, e);
	return err_set(e, ERR_USAGE, "the daemon does not know '%.40s'", verb);
}

/* A full disk ends nothing: what was taken waits. */
static void tell(struct daemon *d, int rc, const struct err *e)
{
	if (rc < 0)
		told_failure(&d->told, stderr, NAME, e->text, clock_monotonic_ns());
	d->has_failed = rc < 0;
}

static void tell_what_is_over(struct daemon *d)
{
	struct continuous_status s;

	if (!d->told.n)
		return;
	continuous_status(d->continuous, &s);
	if (!s.trouble->is_on)
		told_over(&d->told, stderr, NAME);
}

static void on_signals(struct daemon *d)
{
	struct signalfd_siginfo info;
	struct err e;

	while (!d->is_over && read(d->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP) {
			tell(d, continuous_flush(d->continuous, &e), &e);
			continue;
		}
		d->is_over = true;
		tell(d, continuous_stop(d->continuous, &e), &e);
	}
}

static void run(struct daemon *d)
{
	while (!d->is_over) {
		struct pollfd fds[2 + RECORDER_FDS_MAX] = {
			{ .fd = d->signals, .events = POLLIN },
			{ .fd = control_fd(d->control), .events = POLLIN },
		};
		size_t n = continuous_fds(d->continuous, fds + 2, RECORDER_FDS_MAX);
		struct err e;

		if (poll(fds, 2 + n, TICK_MS) < 0 && errno != EINTR)
			return;
		tell(d, continuous_work(d->continuous, &e), &e);
		tell_what_is_over(d);
		on_signals(d);
		if (!d->is_over)
			control_serve(d->control, on_request, d);
	}
}

/* Beginning. */

static bool is_full(const struct err *e)
{
	return e->os == ENOSPC || e->os == EDQUOT;
}

/* Nothing can be begun yet. */
static void wait_for_room(struct daemon *d)
{
	struct pollfd fds[] = {
		{ .fd = d->signals, .events = POLLIN },
		{ .fd = control_fd(d->control), .events = POLLIN },
	};
	struct signalfd_siginfo info;

	if (poll(fds, 2, ROOM_MS) < 0)
		return;
	while (read(d->signals, &info, sizeof(info)) == sizeof(info))
		d->is_over |= info.ssi_signo != SIGHUP;
	control_serve(d->control, on_request, d);
}

/* Where the disk is full it waits, and tells. */
static int begin(struct daemon *d, const struct continuous_settings *s, struct err *e)
{
	int rc = continuous_new(s, &d->continuous, &d->why);

	while (rc < 0 && is_full(&d->why) && !d->is_over) {
		tell(d, rc, &d->why);
		wait_for_room(d);
		if (!d->is_over)
			rc = continuous_new(s, &d->continuous, &d->why);
	}
	if (rc < 0 && e)
		*e = d->why;
	return rc;
}

static void say_left(const struct recorder_left *left)
{
	char gap[TEXT_MAX], samples[TEXT_MAX], lost[TEXT_MAX];

	fprintf(stderr, NAME ": goes on where one was killed, %s ago",
		text_duration(gap, left->gap_ns));
	if (left->samples || !left->is_summed)
		fprintf(stderr, "; %s %s taken meanwhile",
			text_number(samples, left->samples, "samples"),
			left->samples == 1 ? "was" : "were");
	if (left->lost)
		fprintf(stderr, ", %s lost", text_count(lost, left->lost));
	fprintf(stderr, "%s\n",
		left->has_ended ? ", until the kernel stopped by itself" : "");
}

static void say_notice(const struct daemon *d)
{
	struct continuous_status s;
	char period[TEXT_MAX];

	continuous_status(d->continuous, &s);
	if (s.left)
		say_left(s.left);
	if (s.recorder.removed && *s.recorder.removed)
		fprintf(stderr, NAME ": %s\n", s.recorder.removed);
	if (s.recorder.unkept && s.wants_pins)
		fprintf(stderr,
			NAME ": if it is killed, what the kernel holds then is lost: "
			     "%s\n",
			s.recorder.unkept);
	if (s.notice[0])
		fprintf(stderr, NAME ": %s\n", s.notice);
	if (s.notice[0] && s.period_ns)
		fprintf(stderr, NAME ": a sample each %s\n",
			text_duration(period, s.period_ns));
}

static int unpin(const struct continuous_settings *settings, struct err *e)
{
	bool was_there;
	int rc;

	/* Opening one makes it. */
	if (access(settings->database, F_OK) != 0)
		return err_os(e, "no database '%s'", settings->database);
	rc = continuous_unpin(settings, &was_there, e);
	if (rc < 0)
		return rc;
	printf("%s\n", was_there ? "what was left in the kernel is removed"
				 : "nothing was left in the kernel");
	return EXIT_OK;
}

static int run_daemon(struct options *o, struct err *e)
{
	const char *socket = options_str(o, "socket"), *db = options_str(o, "db");
	own(freep) char *database = absolute(db ? db : DEFAULT_DATABASE);
	own(path_choice_freep) struct path_choice *chosen = NULL;
	own(daemon_fini) struct daemon d = { .signals = -1 };
	struct continuous_settings settings;
	int rc;

	if (options_argc(o))
		return err_set(e, ERR_USAGE, "'%.60s' is too much", options_argv(o)[0]);
	mallopt(M_MMAP_THRESHOLD, MALLOC_LARGE);
	take_settings(o, database, &settings);
	if (options_has(o, "unpin"))
		return unpin(&settings, e);
	rc = take_events(o, &settings, e);
	if (rc == 0)
		rc = apart_options_take(o, &settings.apart, &chosen, e);
	if (rc == 0)
		rc = take_signals(&d, e);
	settings.end_fd = d.signals;
	if (rc == 0)
		rc = control_listen(socket ? socket : CONTROL_SOCKET, &d.control, e);
	if (rc == 0)
		rc = begin(&d, &settings, e);
	if (rc == 0)
		rc = privilege_drop_to_observer(e);
	if (rc < 0)
		return rc;
	say_notice(&d);
	run(&d);
	return d.has_failed ? EXIT_ERROR : EXIT_OK;
}

const struct command cmd_daemon = {
	.name = "daemon",
	.usage = "[options]",
	.summary = "Profile the whole machine all the time, into a database",
	.description =
		"Samples every CPU, all processes and the kernel, with full stacks, "
		"until "
		"it is told to end ('dwell ctl quit', SIGTERM, Ctrl-C). Stacks are "
		"walked "
		"and counted in the kernel; every few minutes what was counted becomes "
		"part of the database, and SIGHUP or 'dwell ctl flush' makes it so at "
		"once. What a killed daemon had taken is in the database after the next "
		"start, and so is what comes until then: the kernel goes on, with "
		"states, system "
		"calls and triggers, too, where it is Linux 6.10 or later with a BPF "
		"file "
		"system. Programs of another build, or with other settings, cannot be "
		"gone "
		"on with, and what perf samples has to be fetched all the time; what is "
		"lost "
		"by that is told. Processes are told apart by name, executable and "
		"cgroup. Where "
		"the kernel "
		"refuses BPF, perf samples at a lower rate, and the status tells so.\n\n"
		"It stays in the foreground, as service managers want it, and needs "
		"root; "
		"once it is at work it keeps only the privileges that observing takes.",
	.options = (const struct option_spec *const[]){ daemon_options, NULL },
	.examples =
		(const struct command_example[]){
			{ "dwell daemon", "as a service does" },
			{ "dwell daemon --db /tmp/db --merge 1m -F 97", "seldom samples, "
									"soon there" },
			{ NULL, NULL } },
	.group = "record",
	.run = run_daemon,
};
