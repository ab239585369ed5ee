/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "collect/gauges.h"
#include "collect/jit_flags.h"
#include "collect/launch.h"
#include "collect/session_checks.h"
#include "collect/session_choose.h"
#include "collect/session_control.h"
#include "collect/session_notes.h"
#include "collect/session_observes.h"
#include "collect/session_pause.h"
#include "collect/session_sums.h"
#include "collect/session_signals.h"
#include "collect/summing.h"
#include "collect/system_classes.h"
#include "host/clock.h"
#include "host/procfs.h"

#define TICK_NS	      100000000 /* how long data may wait for us */
#define RECORDER_NICE (-15)
#define SOURCES_MAX   8
#define FDS_MAX	      4096

struct session {
	struct session_settings settings;
	struct scope scope;
	struct launch_env env;
	struct launch_user user;
	struct plan plans[SESSION_EXPERIMENTS_MAX];
	struct session_told told;
	struct launch launch;
	struct writer *writer;
	struct tracker *tracker;
	struct system_classes *classes;
	struct source *sources[SOURCES_MAX];
	size_t n_sources;
	struct gauges *gauges; /* NULL: the recording has no time */
	struct session_signals signals;
	struct session_control control;
	VEC(int) pidfds; /* of the processes whose end ends the recording */
	uint64_t start_ns, end_ns, delay_end_ns;
	uint64_t asleep_before_ns;
	uint64_t stolen_ns; /* since boot, at the start */
	bool is_paused, is_over;
	struct session_outcome outcome;
};

/* Making the settings definite. */

static void set_scope(struct session *s)
{
	const struct session_settings *x = &s->settings;

	s->scope = (struct scope){
		.kind = x->kind,
		.pids = x->pids,
		.n_pids = x->n_pids,
		.cpus = x->cpus,
		.n_cpus = x->n_cpus,
		.follow_children = !x->follow || strcmp(x->follow, "off") != 0,
		.may_pause = x->starts_paused || x->signals.toggle || x->delay_ns ||
			     session_checks_anchors(x),
		.uid = geteuid(),
		.gid = getegid(),
		.program = x->argv ? x->argv[0] : NULL,
		.apart = x->apart,
		.under = x->under,
		.n_under = x->n_under,
	};
}

int session_new(const struct session_settings *settings, struct session **ret,
		struct err *e)
{
	own(session_freep) struct session *s = xcalloc(1, sizeof(*s));
	int rc = session_checks_settings(settings, e);

	s->settings = *settings;
	s->launch = (struct launch){ .gate = -1, .report = -1 };
	s->signals.fd = -1;
	s->control.fd = -1;
	launch_env_init(&s->env);
	set_scope(s);
	if (settings->wants_jit)
		jit_flags_set(&s->env);
	if (settings->user && rc == 0) {
		rc = launch_user_find(settings->user, &s->user, &s->env, e);
		s->scope.uid = s->user.uid;
		s->scope.gid = s->user.gid;
	}
	if (rc == 0)
		rc = session_choose(&s->settings, &s->scope, s->plans, &s->told, e);
	if (rc < 0)
		return rc;
	session_choose_hearing(&s->settings, &s->scope, s->plans);
	*ret = steal(&s);
	return 0;
}

const char *session_notice(const struct session *s)
{
	return *s->told.notice ? s->told.notice : NULL;
}

const struct session_settings *session_settings(const struct session *s)
{
	return &s->settings;
}

const char *session_unrecorded(const struct session *s)
{
	return *s->told.unrecorded ? s->told.unrecorded : NULL;
}

void session_free(struct session *s)
{
	if (!s)
		return;
	launch_abandon(&s->launch);
	for (size_t i = 0; i < s->n_sources; i++)
		s->sources[i]->ops->free(s->sources[i]);
	vec_each(fd, &s->pidfds)
		closep(fd);
	vec_fini(&s->pidfds);
	session_signals_fini(&s->signals);
	session_control_close(&s->control);
	gauges_free(s->gauges);
	system_classes_free(s->classes);
	tracker_free(s->tracker);
	writer_free(s->writer);
	launch_env_fini(&s->env);
	free(s);
}

void session_freep(struct session **s)
{
	session_free(*s);
}

void session_describe(const struct session *s, session_line_fn *fn, void *ctx)
{
	session_notes_describe(&s->settings, &s->scope, s->plans, fn, ctx);
}

/* Opening what records. */

static int create_file(struct session *s, struct err *e)
{
	struct writer_options options = { .max_bytes = s->settings.max_bytes,
					  .no_time = s->settings.no_time,
					  .keeps_room = true };
	struct session_outcome *o = &s->outcome;

	session_notes_path(&s->settings, s->launch.pid, o->path, sizeof(o->path));
	session_notes_owner(&options);
	return writer_create(o->path, &options, &s->writer, e);
}

static void add_events(struct session *s)
{
	for (size_t i = 0; i < s->settings.n_choices; i++)
		session_notes_events(s->writer, &s->plans[i]);
}

static int follow_only(struct session *s, struct err *e)
{
	const char *follow = s->settings.follow;

	if (!s->scope.follow_children)
		tracker_leave_children(s->tracker);
	if (!follow || !strcmp(follow, "on") || !strcmp(follow, "off"))
		return 0;
	return tracker_follow_only(s->tracker, follow, e);
}

static bool is_open(const struct session *s, const struct source_ops *ops)
{
	for (size_t i = 0; i < s->n_sources; i++)
		if (s->sources[i]->ops == ops)
			return true;
	return false;
}

static int open_source(struct session *s, const struct source_ops *ops,
		       const struct source_context *c, struct err *e)
{
	struct source *source;
	int rc = ops->open(c, &s->sources[s->n_sources], e);

	if (rc < 0)
		return rc;
	source = s->sources[s->n_sources++];
	rc = ops->prepare ? ops->prepare(source, &s->env, e) : 0;
	s->scope.preload = launch_env_get(&s->env, "LD_PRELOAD");
	if (rc == 0)
		session_pause_tell(&source, 1, s->is_paused);
	return rc;
}

static int open_turn(struct session *s, enum source_turn turn,
		     const struct source_context *c, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < 2 * c->n_plans && rc == 0; i++) {
		const struct plan *p = &s->plans[i / 2];
		const struct source_ops *ops = i % 2 ? p->beside : p->source;

		if (ops && ops->turn_at == turn && !is_open(s, ops))
			rc = open_source(s, ops, c, e);
	}
	return rc;
}

static int open_sources(struct session *s, struct err *e)
{
	struct source_context c = { .scope = &s->scope,
				    .plans = s->plans,
				    .n_plans = s->settings.n_choices,
				    .tracker = s->tracker,
				    .classes = s->classes,
				    .writer = s->writer,
				    .gauges = &s->gauges,
				    .cookie = summing_cookie() };
	int rc = 0;

	for (unsigned turn = 0; turn < SOURCE_N_TURNS && rc == 0; turn++)
		rc = open_turn(s, turn, &c, e);
	return rc;
}

static bool tells(const struct source_ops *source)
{
	return source && source->turn_at != SOURCE_SUMS;
}

/* Those that sum ask the tracker where somebody tells it; else each other. */
static void begin_classes(struct session *s)
{
	bool is_told = false;

	for (size_t i = 0; i < s->settings.n_choices; i++)
		is_told |= tells(s->plans[i].source) || tells(s->plans[i].beside);
	s->classes = system_classes_new();
	system_classes_begin(s->classes, s->writer, source_apart(&s->scope).chosen,
			     is_told ? s->tracker : NULL);
}

static int open_all(struct session *s, struct err *e)
{
	int rc = create_file(s, e);

	if (rc < 0)
		return rc;
	s->tracker = tracker_new(s->writer);
	if (s->settings.insn)
		tracker_want_directions(s->tracker);
	if (s->settings.wants_jit)
		tracker_expect_jit(s->tracker);
	begin_classes(s);
	s->is_paused = s->settings.starts_paused || s->settings.delay_ns;
	add_events(s);
	if (*s->told.notice)
		writer_info(s->writer, "notice", s->told.notice);
	if (*s->told.unrecorded)
		writer_info(s->writer, "unrecorded", s->told.unrecorded);
	if (*s->told.unseen)
		writer_info(s->writer, "unseen-waits", s->told.unseen);
	rc = follow_only(s, e);
	return rc < 0 ? rc : open_sources(s, e);
}

/* Starting. */

/* Data that is not fetched in time is lost, and it comes when the machine is busy.  Best
 * effort: needs CAP_SYS_NICE.  Only ours, as the limit below: the program was forked
 * before. */
static void raise_priority(void)
{
	setpriority(PRIO_PROCESS, 0, RECORDER_NICE);
}

static void raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int start_some(struct session *s, bool is_first, struct err *e)
{
	for (size_t i = 0; i < s->n_sources; i++) {
		if (s->sources[i]->ops->starts_first != is_first)
			continue;
		tracker_set_teller(s->tracker, (unsigned)i);

		int rc = s->sources[i]->ops->start(s->sources[i], s->launch.pid, e);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int start_sources(struct session *s, struct err *e)
{
	int rc = start_some(s, true, e);

	return rc < 0 ? rc : start_some(s, false, e);
}

static int watch(struct session *s, pid_t pid, struct err *e)
{
	int fd = pidfd_open(pid, 0);

	if (fd < 0)
		return err_os(e, "cannot watch process %d", pid);
	*vec_push(&s->pidfds) = fd;
	return 0;
}

static int watch_all(struct session *s, struct err *e)
{
	const struct session_settings *x = &s->settings;
	int rc = 0;

	if (x->kind == SCOPE_LAUNCH)
		return watch(s, s->launch.pid, e);
	for (size_t i = 0; i < x->n_pids && rc == 0; i++) {
		pid_t pid = x->pids[i];

		if (x->kind == SCOPE_THREADS)
			rc = procfs_process_of(pid, &pid, e);
		if (rc == 0)
			rc = watch(s, pid, e);
	}
	return rc;
}

/* 0 where it is not told. */
static uint64_t stolen_ns(void)
{
	uint64_t ns = 0;

	return procfs_stolen_ns(&ns, NULL) == 0 ? ns : 0;
}

/* Of threads, their processes. */
static void begin_gauges(struct session *s)
{
	const struct session_settings *x = &s->settings;
	struct gauges_settings settings = { .writer = s->writer,
					    .follows_children = s->scope.follow_children,
					    .every_ns = x->global_ns };
	VEC(pid_t) pids = { 0 };

	if (x->kind == SCOPE_LAUNCH)
		*vec_push(&pids) = s->launch.pid;
	for (size_t i = 0; i < x->n_pids; i++) {
		pid_t pid = x->pids[i];

		if (x->kind != SCOPE_THREADS || procfs_process_of(pid, &pid, NULL) == 0)
			*vec_push(&pids) = pid;
	}
	settings.pids = pids.at;
	settings.n_pids = pids.n;
	s->gauges = gauges_new(&settings, s->start_ns);
	vec_fini(&pids);
}

/* A program that some source has a say in. */
static int launch(struct session *s, struct err *e)
{
	char *const *words = s->settings.argv;
	int rc = 0;

	for (size_t i = 0; i < s->n_sources && rc == 0; i++) {
		const struct source_ops *ops = s->sources[i]->ops;

		if (ops->reword)
			rc = ops->reword(s->sources[i], &s->env, &words, e);
	}
	if (rc == 0)
		rc = launch_go(&s->launch, words, &s->env, s->settings.argv[0], e);
	if (rc < 0) {
		s->outcome.is_exec_failure = true;
		s->outcome.exec_errno = e ? e->os : 0;
		unlink(s->outcome.path);
	}
	return rc;
}

static int start_all(struct session *s, struct err *e)
{
	const struct session_settings *x = &s->settings;
	int rc = session_signals_init(&s->signals, x->kind == SCOPE_LAUNCH, &x->signals,
				      e);

	if (rc < 0)
		return rc;
	raise_priority();
	raise_file_limit();
	rc = watch_all(s, e);
	if (rc == 0)
		rc = start_sources(s, e);
	if (rc < 0)
		return rc;
	s->start_ns = clock_monotonic_ns();
	s->asleep_before_ns = clock_asleep_ns();
	s->stolen_ns = stolen_ns();
	session_notes_begin(s->writer, x, s->plans, s->start_ns);
	if (!x->no_time)
		begin_gauges(s);
	session_control_open(&s->control);
	return x->kind == SCOPE_LAUNCH ? launch(s, e) : 0;
}

/* Running. */

static void set_paused(struct session *s, bool is_paused)
{
	s->is_paused = is_paused;
	session_pause_tell(s->sources, s->n_sources, is_paused);
}

static void ask_callstacks(struct session *s)
{
	for (size_t i = 0; i < s->n_sources; i++)
		if (s->sources[i]->ops->ask)
			s->sources[i]->ops->ask(s->sources[i]);
}

/* Whoever tells it does not want what the delay would do. */
static void be_told_to_pause(struct session *s, bool is_paused)
{
	s->delay_end_ns = 0;
	set_paused(s, is_paused);
}

/* Now. */
static void end_interval(struct session *s, const char *cause, const char *name)
{
	uint64_t took_ns = session_sums_tell(s->sources, s->n_sources, s->tracker);

	gauges_cut(s->gauges, clock_monotonic_ns(), cause, name);
	gauges_spare(s->gauges, took_ns);
}

static void take_signals(struct session *s)
{
	for (;;) {
		switch (session_signals_next(&s->signals)) {
		case SESSION_SIGNAL_NONE:
			return;
		case SESSION_SIGNAL_END:
			s->outcome.was_interrupted = true;
			s->is_over = true;
			break;
		case SESSION_SIGNAL_TOGGLE:
			be_told_to_pause(s, !s->is_paused);
			break;
		case SESSION_SIGNAL_CALLSTACK:
			ask_callstacks(s);
			break;
		case SESSION_SIGNAL_MARK:
			end_interval(s, "signal", "mark");
			break;
		}
	}
}

/* The program's end, or that of every process attached to.  Who has ended wakes nobody up
 * any more. */
static void check_targets(struct session *s)
{
	size_t n_alive = 0;

	vec_each(fd, &s->pidfds) {
		struct pollfd p = { .fd = *fd, .events = POLLIN };

		if (poll(&p, 1, 0) == 0)
			s->pidfds.at[n_alive++] = *fd;
		else
			close(*fd);
	}
	if (s->pidfds.n && !n_alive)
		s->is_over = true;
	s->pidfds.n = n_alive;
}

static size_t poll_set(const struct session *s, uint64_t now_ns, struct pollfd *fds)
{
	size_t n = session_control_fds(&s->control, now_ns, fds);

	fds[n++] = (struct pollfd){ .fd = s->signals.fd, .events = POLLIN };
	if (s->settings.company)
		fds[n++] = (struct pollfd){ .fd = s->settings.company->fd,
					    .events = POLLIN };
	/* One is enough to wake up for: the others are looked at then or at a tick. */
	for (size_t i = 0; i < s->pidfds.n && i < 1; i++)
		fds[n++] = (struct pollfd){ .fd = s->pidfds.at[i], .events = POLLIN };
	for (size_t i = 0; i < s->n_sources; i++)
		n += s->sources[i]->ops->fds(s->sources[i], fds + n, FDS_MAX - n);
	return n;
}

static uint64_t wait_ns(const struct session *s, uint64_t now_ns)
{
	uint64_t until[] = { s->end_ns, s->delay_end_ns, gauges_due_ns(s->gauges) };
	uint64_t wait = TICK_NS;

	for (size_t i = 0; i < sizeof(until) / sizeof(until[0]); i++) {
		uint64_t left = until[i] > now_ns ? until[i] - now_ns : 0;

		if (until[i] && left < wait)
			wait = left;
	}
	return wait;
}

static void check_times(struct session *s, uint64_t now_ns)
{
	if (s->delay_end_ns && now_ns >= s->delay_end_ns) {
		s->delay_end_ns = 0;
		if (!s->settings.starts_paused)
			set_paused(s, false);
	}
	gauges_settle(s->gauges, now_ns);
	if (s->end_ns && now_ns >= s->end_ns)
		s->is_over = true;
}

static int drain(struct session *s, bool is_final, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < s->n_sources; i++) {
		tracker_set_teller(s->tracker, (unsigned)i);

		int one =
			s->sources[i]->ops->drain(s->sources[i], is_final, rc ? NULL : e);

		rc = rc ? rc : one;
	}
	return rc;
}

static void serve_company(struct session *s)
{
	const struct session_company *c = s->settings.company;
	struct pollfd asked = { .fd = c ? c->fd : -1, .events = POLLIN };

	if (c && poll(&asked, 1, 0) > 0)
		c->serve(c->ctx, s);
}

/* From outside (session_control). */

static bool observes(void *ctx, pid_t pid)
{
	const struct session *s = ctx;

	return session_observes(&s->scope, s->tracker, s->launch.pid, pid);
}

static int mark(void *ctx, const char *name, struct err *e)
{
	struct session *s = ctx;

	if (!s->gauges)
		return err_set(e, ERR_UNSUPPORTED, "the recording has no times");
	end_interval(s, "ctl", name);
	return 0;
}

static int pause_or_resume(void *ctx, bool is_paused, struct err *e)
{
	struct session *s = ctx;

	if (!s->scope.may_pause)
		return err_set(e, ERR_UNSUPPORTED,
			       "only recordings with --pause, --delay or --toggle can "
			       "be paused");
	be_told_to_pause(s, is_paused);
	return 0;
}

static int tell_status(void *ctx, struct buf *lines, struct err *e)
{
	struct session *s = ctx;
	struct session_progress p;
	int rc = session_sync(s, &p, e);

	if (rc == 0)
		session_notes_status(&s->settings, &p, s->launch.pid, s->is_paused,
				     lines);
	return rc;
}

static const struct session_control_ops control_ops = {
	.observes = observes,
	.mark = mark,
	.pause = pause_or_resume,
	.status = tell_status,
};

/* A file that cannot be written any more is told at the end, and in it, as there is room
 * for that: the program is none the wiser, and what was taken before remains. */
static void keep_write_failure(struct session *s, int rc, const struct err *why)
{
	struct session_outcome *o = &s->outcome;

	if (rc == 0 || o->write_failure.code)
		return;
	o->write_failure = *why;
	o->write_failure_ns = clock_monotonic_ns() - s->start_ns;
	if (s->writer)
		session_notes_unwritten(s->writer, o);
}

static int run_loop(struct session *s, struct err *e)
{
	own(freep) struct pollfd *fds = xcalloc(FDS_MAX, sizeof(*fds));
	uint64_t now_ns = clock_monotonic_ns();
	struct err why = { 0 };

	if (s->settings.duration_ns)
		s->end_ns = now_ns + s->settings.duration_ns;
	if (s->settings.delay_ns)
		s->delay_end_ns = now_ns + s->settings.delay_ns;
	while (!s->is_over) {
		uint64_t wait = wait_ns(s, now_ns);
		struct timespec t = { .tv_sec = (time_t)(wait / 1000000000),
				      .tv_nsec = (long)(wait % 1000000000) };

		if (ppoll(fds, poll_set(s, now_ns, fds), &t, NULL) < 0 && errno != EINTR)
			return err_os(e, "cannot wait for data");
		/* Sums that are fetched for that are not to be fetched again. */
		if (gauges_are_due(s->gauges, clock_monotonic_ns()))
			end_interval(s, "timer", "");

		int rc = drain(s, false, e);

		if (rc < 0)
			return rc;
		session_pause_tell(s->sources, s->n_sources, s->is_paused);
		now_ns = clock_monotonic_ns();
		/* A full disk ends the file, not the program: the writer keeps the
		 * failure, it is told at the end. */
		rc = writer_tick(s->writer, now_ns, &why);
		keep_write_failure(s, rc, &why);
		serve_company(s);
		session_control_serve(&s->control, now_ns, &control_ops, s);
		take_signals(s);
		check_times(s, now_ns);
		check_targets(s);
	}
	return 0;
}

int session_sync(struct session *s, struct session_progress *ret, struct err *e)
{
	struct session_progress p = { .path = s->outcome.path,
				      .how = s->plans[0].source->how(
					      s->plans[0].choice.experiment, 0),
				      .start_ns = s->start_ns };
	int rc = drain(s, false, e);

	p.taken_ns = clock_monotonic_ns();
	if (rc == 0)
		session_sums_tell(s->sources, s->n_sources, s->tracker);
	for (size_t i = 0; i < s->n_sources && rc == 0; i++) {
		const struct source_ops *ops = s->sources[i]->ops;
		struct source_stats stats = { 0 };

		if (ops->stats)
			ops->stats(s->sources[i], &stats);
		session_notes_add(&p.stats, &stats);
	}
	if (rc == 0)
		rc = writer_flush(s->writer, e);
	if (rc < 0)
		return rc;
	p.bytes = writer_bytes(s->writer);
	*ret = p;
	return 0;
}

void session_end(struct session *s)
{
	s->is_over = true;
}

/* Ending. */

static void reap(struct session *s)
{
	struct session_outcome *o = &s->outcome;
	struct rusage u = { 0 };

	if (s->settings.kind != SCOPE_LAUNCH)
		return;
	/* Told to end, or out of time: the program goes on without us. */
	pid_t pid = wait4(s->launch.pid, &o->status, WNOHANG, &u);

	o->was_launched = pid == s->launch.pid;
	if (!o->was_launched)
		return;
	session_notes_rusage(s->writer, &u, o);
	tracker_exit_status(s->tracker, (uint32_t)s->launch.pid, o->status);
}

/* What programs are told at the end is nothing that others are to see. */
static void stop_in_turn(struct session *s)
{
	for (size_t i = 0; i < 2 * s->n_sources; i++) {
		struct source *source = s->sources[i % s->n_sources];

		if ((source->ops->turn_at == SOURCE_IS_TOLD) == (i >= s->n_sources))
			source->ops->stop(source);
	}
}

static void stop_sources(struct session *s)
{
	session_control_close(&s->control); /* who asks now, waits for nobody */
	end_interval(s, "end", "");
	stop_in_turn(s);
	s->outcome.wall_ns = clock_monotonic_ns() - s->start_ns;
	s->outcome.asleep_ns = clock_asleep_since_ns(s->asleep_before_ns);
	s->outcome.stolen_ns = stolen_ns() - s->stolen_ns;
}

static int finish_all(struct session *s, struct err *e)
{
	struct session_outcome *o = &s->outcome;
	struct err why = { 0 };
	int rc = drain(s, true, e);

	gauges_finish(s->gauges); /* what programs told before they ended is drained */
	reap(s);
	for (size_t i = 0; i < s->n_sources; i++) {
		struct source_stats stats = { 0 };

		s->sources[i]->ops->finish(s->sources[i], &stats);
		if (session_choose_observes_all(&s->settings, s->plans,
						s->sources[i]->ops))
			stats.events = stats.samples;
		session_notes_add(&o->stats, &stats);
	}
	keep_write_failure(s, tracker_finish(s->tracker, true, &why), &why);
	keep_write_failure(s, writer_flush(s->writer, &why), &why);
	if (s->settings.wants_jit)
		o->jit_refusal = tracker_jit_refusal(s->tracker);
	session_notes_end(s->writer, s->tracker, o);
	keep_write_failure(s, writer_close(steal(&s->writer), &why), &why);
	return rc;
}

int session_run(struct session *s, struct session_outcome *ret, struct err *e)
{
	int rc = 0, rc2;

	if (s->settings.kind == SCOPE_LAUNCH)
		rc = launch_begin(&s->launch, s->settings.user ? &s->user : NULL, e);
	/* What is ignored stays so across an exec: not before the program's fork. */
	session_signals_ignore();
	if (rc == 0)
		rc = open_all(s, e);
	if (rc == 0) {
		rc = start_all(s, e);
		if (rc < 0 && !s->outcome.is_exec_failure)
			unlink(s->outcome.path);
	}
	if (rc < 0) {
		*ret = s->outcome;
		return rc;
	}
	rc = run_loop(s, e);
	stop_sources(s);
	rc2 = finish_all(s, rc ? NULL : e);
	*ret = s->outcome;
	return rc ? rc : rc2;
}
