/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/continuous.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/continuous_plans.h"
#include "collect/damaged_files.h"
#include "collect/open_recording.h"
#include "collect/segment_job.h"
#include "collect/segment_maker.h"
#include "collect/symbol_store.h"
#include "collect/system_keeping.h"
#include "collect/system_pins.h"
#include "host/clock.h"
#include "host/self_cost.h"
#include "store/database.h"

/* An open recording is a segment's worth when it has grown to this, whatever the time:
 * its dictionaries are in memory. */
#define OPEN_BYTES_MAX (UINT64_C(2) << 20)
/* A segment that could not be made is tried again then, later each time. */
#define RETRY_FIRST_NS UINT64_C(5000000000)
#define RETRY_LAST_NS  UINT64_C(60000000000)
#define TICK_MS	       100
/* One that makes segments and takes no time of a CPU for so long. */
#define HANGS_NS UINT64_C(10000000000)
/* A client waits until what it asked for is done; only who is to end has no time. */
#define FOR_EVER  UINT64_MAX
#define TOO_LATE  "making segments takes too long; what was taken waits beside the epochs"
#define KEEP_NAME 64
/* What empties the rings does not wait for those whose samples are in them. */
#define DAEMON_NICE (-15)
/* That lets a process be as nice as 0: getrlimit(2). */
#define NICE_LIMIT_0 20

struct continuous {
	struct continuous_settings settings;
	struct cpus cpus;
	struct continuous_plans plans;
	struct recorder *recorder;
	struct utsname machine;
	struct database_writer *database;
	struct segment_job *job;
	struct symbol_store *symbols; /* or NULL */
	struct open_recording *open;
	char keep[KEEP_NAME];	   /* of what the kernel keeps for this database */
	struct recorder_left left; /* by a killed one */
	bool has_left;
	struct recorder_place place; /* of that one's recording */
	struct buf removed;	     /* what nobody goes on with */
	uint64_t n_removed;
	uint64_t started_ns;
	uint64_t retry_ns;	/* segments are made then, though none is due; 0: not */
	uint64_t retry_wait_ns; /* after the next failure */
	struct err unmade;	/* why segments are not made; code 0: they are */
	struct trouble trouble;
	uint64_t n_failures, bytes_at_start;
	bool is_again; /* something came to wait while segments were made */
	bool is_started, is_paused;
};

static int64_t now_s(void)
{
	return (int64_t)(clock_read_ns(CLOCK_REALTIME) / 1000000000);
}

/* And of what makes segments. */
static uint64_t own_cpu_ns(void)
{
	return self_cost_cpu_ns() + self_cost_children_cpu_ns();
}

static uint64_t own_bytes(const struct continuous *c)
{
	pid_t maker = segment_job_pid(c->job);

	return self_cost_bytes() + (maker ? self_cost_bytes_of(maker) : 0);
}

static int open_recording(struct continuous *c, struct err *e)
{
	return open_recording_begin(c->open, c->recorder, e);
}

/* What was taken so far waits to become a segment; the next recording begins. */
static int turn(struct continuous *c, struct err *e)
{
	struct err why = { 0 };
	int rc = open_recording_end(c->open, &why), rc2;

	malloc_trim(0); /* the dictionaries of what was closed */
	if (c->is_started) {
		rc2 = open_recording(c, rc < 0 ? NULL : &why);
		rc = rc < 0 ? rc : rc2;
	}
	if (rc < 0 && e)
		*e = why;
	return rc;
}

static int begin_epoch(struct continuous *c, const char *label, struct err *e)
{
	struct manifest m = { .period_ns = continuous_plans_clock_ns(&c->plans),
			      .start_s = now_s() };

	manifest_set(m.clock, "cpu-clock");
	if (label)
		manifest_set(m.label, label);
	return database_writer_begin(c->database, &m, e);
}

static void retry_later(struct continuous *c)
{
	if (c->retry_wait_ns < RETRY_FIRST_NS)
		c->retry_wait_ns = RETRY_FIRST_NS;
	c->retry_ns = clock_monotonic_ns() + c->retry_wait_ns;
	c->retry_wait_ns *= 2;
	if (c->retry_wait_ns > RETRY_LAST_NS)
		c->retry_wait_ns = RETRY_LAST_NS;
}

/* How making segments ended, which may be tried again. */
static int note_result(struct continuous *c, int rc, const struct err *why, struct err *e)
{
	c->n_failures += rc < 0;
	if (rc < 0) {
		retry_later(c);
		c->unmade = *why;
		if (e)
			*e = *why;
	} else {
		c->retry_ns = c->retry_wait_ns = 0;
		c->unmade.code = 0;
	}
	return rc;
}

/* What is written first is told first. */
static void note_trouble(struct continuous *c)
{
	const struct err *why = open_recording_trouble(c->open);

	if (!why && c->unmade.code)
		why = &c->unmade;
	trouble_note(&c->trouble, why, open_recording_waiting(c->open),
		     clock_monotonic_ns());
}

static void work(struct continuous *c, uint64_t now_ns)
{
	c->recorder->ops->work(c->recorder, now_ns);
}

/* Samples go on meanwhile. */
static int wait_a_tick(struct continuous *c, uint64_t *until_ns, struct err *e)
{
	uint64_t soon_ns = clock_monotonic_ns() + c->settings.patience_ns;
	struct pollfd fds[2 + RECORDER_FDS_MAX] = {
		{ .fd = segment_job_fd(c->job), .events = POLLIN },
		{ .fd = *until_ns > soon_ns ? c->settings.end_fd : -1, .events = POLLIN },
	};
	size_t n = c->is_started ? continuous_fds(c, fds + 2, RECORDER_FDS_MAX) : 0;

	if (poll(fds, 2 + n, TICK_MS) < 0 && errno != EINTR)
		return err_os(e, "cannot wait");
	if (fds[1].revents)
		*until_ns = soon_ns;
	if (c->is_started)
		work(c, clock_monotonic_ns());
	return 0;
}

/* Until all that waited is in the database, or it is too late. */
static int wait_for_segments(struct continuous *c, uint64_t until_ns, struct err *e)
{
	int rc = 0;

	while (!segment_job_poll(c->job, &rc, e) && !segment_job_has_added(c->job)) {
		if (clock_monotonic_ns() >= until_ns)
			return err_set(e, ERR_LIMIT, TOO_LATE);
		rc = wait_a_tick(c, &until_ns, e);
		if (rc < 0)
			return rc;
	}
	return rc;
}

/* Where there is no next time, what waits in memory is waited for. */
static int wait_for_room(struct continuous *c, uint64_t until_ns, struct err *e)
{
	int rc = open_recording_settle(c->open, e);

	while (rc < 0 && !c->is_started && clock_monotonic_ns() < until_ns) {
		if (wait_a_tick(c, &until_ns, e) < 0)
			break;
		rc = open_recording_settle(c->open, e);
	}
	return rc;
}

/* Whoever adds what waited until now is let finish; one that does nothing hangs.  At the
 * end there is no time for that. */
static int wait_for_maker(struct continuous *c, uint64_t until_ns, struct err *e)
{
	uint64_t look_ns = clock_monotonic_ns() + HANGS_NS;
	int rc = 0, ended;

	segment_job_hurry(c->job);
	segment_job_is_busy(c->job);
	while (rc == 0 && c->is_started && segment_job_pid(c->job) &&
	       !segment_job_has_added(c->job)) {
		uint64_t now_ns = clock_monotonic_ns();

		if (segment_job_poll(c->job, &ended, NULL) || now_ns >= until_ns ||
		    (now_ns >= look_ns && !segment_job_is_busy(c->job)))
			break;
		if (now_ns >= look_ns)
			look_ns = now_ns + HANGS_NS;
		rc = wait_a_tick(c, &until_ns, e);
	}
	segment_job_interrupt(c->job);
	return rc;
}

/* What is made lazily is made at once now; what failed before is tried again, too. */
static int flush(struct continuous *c, uint64_t until_ns, struct err *e)
{
	struct err why = { 0 };
	int rc = wait_for_maker(c, until_ns, &why);

	if (rc < 0)
		return note_result(c, rc, &why, e);
	if (open_recording_is_there(c->open))
		rc = turn(c, &why);
	else if (c->is_started) /* it failed last time */
		rc = open_recording(c, &why);
	if (rc < 0 || !c->is_started)
		rc = wait_for_room(c, until_ns, &why);
	if (rc == 0)
		rc = segment_job_start(c->job, true, &why);
	if (rc == 0)
		rc = wait_for_segments(c, until_ns, &why);
	rc = note_result(c, rc, &why, e);
	note_trouble(c);
	return rc;
}

/* The database is ours; merging is gone on with soon. */
static void stop_merging(struct continuous *c)
{
	if (!segment_job_pid(c->job))
		return;
	segment_job_interrupt(c->job);
	c->retry_ns = clock_monotonic_ns();
}

int continuous_flush(struct continuous *c, struct err *e)
{
	return flush(c, FOR_EVER, e);
}

int continuous_epoch(struct continuous *c, const char *label, struct err *e)
{
	int rc = continuous_flush(c, e);

	if (rc < 0)
		return rc;
	stop_merging(c);
	return begin_epoch(c, label, e);
}

int continuous_label(struct continuous *c, const char *label, struct err *e)
{
	stop_merging(c);
	return database_writer_label(c->database, label, e);
}

/* Setting up. */

static uint64_t bytes_of(const struct continuous *c)
{
	own(database_freep) struct database *d = NULL;
	const char *host = strrchr(database_writer_directory(c->database), '/') + 1;

	if (database_open_host(c->settings.database, host, &d, NULL) < 0)
		return 0;
	return database_bytes(d);
}

static const char *host_of(const struct continuous *c)
{
	return c->settings.host ? c->settings.host : c->machine.nodename;
}

static int open_database(struct continuous *c, struct err *e)
{
	struct segment_job_settings job = { .command = c->settings.maker,
					    .database = c->settings.database,
					    .retention = c->settings.retention };
	int rc;

	job.host = host_of(c);
	rc = database_writer_open(job.database, job.host, &c->database, e);
	if (rc < 0)
		return rc;
	c->open = open_recording_new(database_writer_directory(c->database), &c->plans);
	job.lock = database_writer_lock(c->database);
	c->job = segment_job_new(&job);
	c->retry_ns = c->started_ns; /* what the last daemon left */
	c->bytes_at_start = bytes_of(c);
	return 0;
}

/* By which directory it is, whatever it is called: since when it is there, too, for file
 * systems in memory begin with the same numbers. */
static int name_keep(struct continuous *c, const char *path, struct err *e)
{
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &st) != 0)
		return err_os(e, "cannot look at '%s'", path);
	if (!(st.stx_mask & STATX_BTIME))
		st.stx_btime = (struct statx_timestamp){ 0 };
	snprintf(c->keep, sizeof(c->keep), "%lx-%llx-%llx-%x",
		 (unsigned long)makedev(st.stx_dev_major, st.stx_dev_minor),
		 (unsigned long long)st.stx_ino, (unsigned long long)st.stx_btime.tv_sec,
		 st.stx_btime.tv_nsec);
	return 0;
}

static int open_symbols(struct continuous *c, struct err *e)
{
	own(freep) char *path =
		xasprintf("%s/" DATABASE_SYMBOLS, database_writer_directory(c->database));

	return symbol_store_new(path, c->settings.symbols_max_bytes, &c->symbols, e);
}

/* What a killed daemon left, on disk and in the kernel. */
static int take_over(struct continuous *c, struct err *e)
{
	const struct recorder_ops *ops = c->recorder->ops;
	int rc;

	c->has_left = ops->left && ops->left(c->recorder, &c->left);
	rc = open_recording_adopt(c->open, &c->place, c->settings.segment_ns, e);
	if (rc == 0)
		rc = open_recording(c, e);
	if (rc == 0 && c->has_left)
		open_recording_begin_earlier(c->open, &c->left);
	return rc;
}

/* A recording is taken again as a whole, or not. */
static bool has_pins(const struct continuous *c)
{
	return c->settings.has_pins && continuous_plans_can_keep(&c->plans) &&
	       !continuous_plans_has_rates(&c->plans);
}

/* Before anything of what was left is changed: how much of it is in a recording; and what
 * is not asked for any more goes. */
static void look_at_left(struct continuous *c)
{
	struct system_ledger_entry last;

	if (!system_keeping_last(c->keep, c->cpus.ids.n, &last))
		return;
	c->place = (struct recorder_place){ last.recording, last.bytes };
	for (size_t i = 0; i < recorder_n_kept(); i++) {
		const struct recorder_ops *ops = recorder_kept(i);
		uint64_t n = 0;

		if (continuous_plans_have(&c->plans, ops) ||
		    !system_keeping_drop(ops->kept, c->keep, c->cpus.ids.n, &c->removed,
					 &n))
			continue;
		c->n_removed += n;
	}
}

static void note_removed(struct continuous *c)
{
	struct recorder_status st;

	c->recorder->ops->status(c->recorder, &st);
	if (st.removed && *st.removed)
		buf_printf(&c->removed, "%s%s", c->removed.size ? "; " : "", st.removed);
}

static int open_recorder(struct continuous *c, struct err *e)
{
	int rc;
	const struct recorder_settings s = { .cpus = &c->cpus,
					     .plans = c->plans.all,
					     .n_plans = c->plans.n,
					     .n_at_once = c->settings.n_at_once,
					     .is_fixed = c->settings.is_fixed,
					     .is_flat = c->settings.is_flat,
					     .depth = c->settings.depth,
					     .drain_ns = c->settings.drain_ns,
					     .is_timed = c->settings.is_timed,
					     .keep = c->keep,
					     .has_pins = has_pins(c),
					     .symbols = c->symbols,
					     .apart = c->settings.apart };

	/* Nobody may count beside us. */
	if (s.has_pins)
		look_at_left(c);
	else
		system_pins_forget(c->keep);
	rc = c->plans.recording->open(&s, &c->recorder, e);
	if (rc == 0)
		note_removed(c);
	return rc;
}

/* Who goes on with what another had loaded need not try whether the kernel takes it,
 * which costs as long as loading it. */
static bool is_proven(const struct continuous *c)
{
	struct recorder_left left;

	return !c->plans.is_assumed || c->recorder->ops->left(c->recorder, &left) ||
	       continuous_plans_try(&c->plans, NULL) == 0;
}

static int choose_and_open_recorder(struct continuous *c, struct err *e)
{
	bool was_assumed = c->plans.is_assumed;
	int rc = open_recorder(c, e);

	if (rc < 0 ? !was_assumed : is_proven(c))
		return rc;
	recorder_free(c->recorder);
	c->recorder = NULL;
	rc = continuous_plans_make(&c->settings, false, &c->plans, e);
	return rc < 0 ? rc : open_recorder(c, e);
}

static int start(struct continuous *c, struct err *e)
{
	int rc = 0;

	if (c->settings.symbols_max_bytes)
		rc = open_symbols(c, e);
	if (rc == 0)
		rc = name_keep(c, database_writer_directory(c->database), e);
	if (rc == 0)
		rc = choose_and_open_recorder(c, e);
	if (rc == 0 && !database_writer_continue(c->database))
		rc = begin_epoch(c, c->settings.label, e);
	if (rc == 0)
		rc = take_over(c, e);
	if (rc == 0)
		rc = c->recorder->ops->start(c->recorder, e);
	c->is_started = rc == 0;
	return rc;
}

/* One that had the kernel count for this database. */
static bool was_killed(struct continuous *c)
{
	own(freep) char *directory = xasprintf("%s/%s", c->settings.database, host_of(c));

	return c->settings.has_pins && name_keep(c, directory, NULL) == 0 &&
	       system_pins_are_there(c->keep);
}

int continuous_new(const struct continuous_settings *settings, struct continuous **ret,
		   struct err *e)
{
	own(continuous_freep) struct continuous *c = xcalloc(1, sizeof(*c));
	int rc;

	/* Where it may; also while the kernel holds what a killed one left. */
	setpriority(PRIO_PROCESS, 0, DAEMON_NICE);
	/* Without privileges it may still hurry what it made wait. */
	setrlimit(RLIMIT_NICE, &(struct rlimit){ NICE_LIMIT_0, NICE_LIMIT_0 });
	c->settings = *settings;
	c->started_ns = clock_monotonic_ns();
	uname(&c->machine);
	rc = continuous_plans_make(settings, was_killed(c), &c->plans, e);
	if (rc == 0)
		rc = cpus_present(&c->cpus, e);
	if (rc == 0)
		rc = open_database(c, e);
	if (rc == 0)
		rc = start(c, e);
	if (rc < 0)
		return rc;
	*ret = steal(&c);
	return 0;
}

int continuous_unpin(const struct continuous_settings *settings, bool *ret_was_there,
		     struct err *e)
{
	own(continuous_freep) struct continuous *c = xcalloc(1, sizeof(*c));
	const char *host = settings->host;
	int rc;

	uname(&c->machine);
	rc = database_writer_open(settings->database, host ? host : c->machine.nodename,
				  &c->database, e);
	if (rc == 0)
		rc = name_keep(c, database_writer_directory(c->database), e);
	if (rc == 0)
		*ret_was_there = system_pins_forget(c->keep);
	return rc;
}

void continuous_free(struct continuous *c)
{
	if (!c)
		return;
	recorder_free(c->recorder);
	open_recording_free(c->open);
	segment_job_free(c->job);
	symbol_store_free(c->symbols);
	database_writer_close(c->database);
	cpus_fini(&c->cpus);
	buf_fini(&c->removed);
	free(c);
}

void continuous_freep(struct continuous **c)
{
	continuous_free(*c);
}

/* Running. */

size_t continuous_fds(const struct continuous *c, struct pollfd *fds, size_t max)
{
	return c->recorder->ops->fds(c->recorder, fds, max);
}

static bool is_segment_due(const struct continuous *c, uint64_t now_ns)
{
	return now_ns - open_recording_began_ns(c->open) >= c->settings.segment_ns ||
	       open_recording_bytes(c->open) >= OPEN_BYTES_MAX;
}

/* Of what waits; of what waits when somebody is at it, again when they have ended. */
static int make_segments(struct continuous *c, struct err *e)
{
	struct err why = { 0 };
	int rc;

	c->is_again = segment_job_pid(c->job) != 0;
	rc = segment_job_start(c->job, false, &why);

	c->retry_ns = 0;
	return rc < 0 ? note_result(c, rc, &why, e) : 0;
}

/* Also when it is not written in whole yet: making segments removes what is old, which
 * may make room. */
static int end_segment(struct continuous *c, struct err *e)
{
	struct err why = { 0 };
	int rc = turn(c, e), rc2 = make_segments(c, &why);

	if (rc == 0 && rc2 < 0 && e)
		*e = why;
	return rc < 0 ? rc : rc2;
}

/* What is taken is in the file soon; what waited for room becomes a segment then. */
static int work_on_recording(struct continuous *c, uint64_t now_ns, struct err *e)
{
	bool was_waiting = open_recording_trouble(c->open) != NULL;
	int rc = open_recording_tick(c->open, now_ns, e);

	if (rc < 0)
		return rc;
	c->is_again |= was_waiting && !open_recording_trouble(c->open);
	return open_recording_is_there(c->open) ? 0 : open_recording(c, e);
}

static int work_on_segments(struct continuous *c, uint64_t now_ns, struct err *e)
{
	struct err why = { 0 };
	int rc = 0;

	if (segment_job_poll(c->job, &rc, &why) && note_result(c, rc, &why, e) < 0)
		return rc;
	if (c->is_again && !segment_job_pid(c->job))
		return make_segments(c, e);
	if (open_recording_is_there(c->open) && is_segment_due(c, now_ns))
		return end_segment(c, e);
	return c->retry_ns && now_ns >= c->retry_ns ? make_segments(c, e) : 0;
}

int continuous_work(struct continuous *c, struct err *e)
{
	uint64_t now_ns = clock_monotonic_ns();
	struct err why = { 0 };
	int rc, rc2;

	work(c, now_ns);
	rc = work_on_recording(c, now_ns, e);
	rc2 = work_on_segments(c, now_ns, &why);
	note_trouble(c);
	if (rc == 0 && rc2 < 0 && e)
		*e = why;
	return rc < 0 ? rc : rc2;
}

int continuous_recent(struct continuous *c, struct continuous_recent *ret, struct err *e)
{
	struct recorder_status st;
	uint64_t now_ns = clock_monotonic_ns();
	int rc = open_recording_is_there(c->open) ? 0 : open_recording(c, e);

	if (rc < 0)
		return rc;
	c->recorder->ops->drain(c->recorder, now_ns);
	rc = open_recording_settle(c->open, e);
	if (rc < 0)
		return rc;
	c->recorder->ops->status(c->recorder, &st);
	*ret = (struct continuous_recent){
		.path = open_recording_path(c->open),
		.refusal = c->plans.refusal.text,
		.opened_ns = open_recording_began_ns(c->open),
		.taken_ns = now_ns,
		.period_ns = continuous_plans_clock_ns(&c->plans),
		.lost = st.lost,
		.cpu_ns = own_cpu_ns(),
		.own_bytes = own_bytes(c),
		.kernel_bytes = st.kernel_bytes,
		.has_processes = c->settings.apart.processes,
	};
	return 0;
}

void continuous_pause(struct continuous *c, bool is_paused)
{
	c->is_paused = is_paused;
	c->recorder->ops->pause(c->recorder, is_paused);
}

int continuous_stop(struct continuous *c, struct err *e)
{
	c->recorder->ops->stop(c->recorder);
	c->is_started = false;
	return flush(c, clock_monotonic_ns() + c->settings.patience_ns, e);
}

void continuous_status(const struct continuous *c, struct continuous_status *ret)
{
	const struct manifest *m = database_writer_epoch(c->database);
	const char *directory = database_writer_directory(c->database);

	*ret = (struct continuous_status){ .running_ns =
						   clock_monotonic_ns() - c->started_ns,
					   .how = c->plans.how,
					   .notice = c->plans.notice,
					   .period_ns =
						   continuous_plans_clock_ns(&c->plans),
					   .makers = segment_job_counts(c->job),
					   .n_failures = c->n_failures,
					   .trouble = &c->trouble };
	ret->n_damaged = damaged_files_count(directory);
	ret->n_waiting = segment_maker_n_waiting(directory);
	ret->waiting_bytes = open_recording_waiting(c->open);
	c->recorder->ops->status(c->recorder, &ret->recorder);
	ret->cpu_ns = own_cpu_ns();
	ret->maker_peak_bytes = self_cost_children_peak_bytes();
	ret->own_bytes = own_bytes(c);
	ret->recorder.lost += c->n_removed;
	ret->recorder.removed = buf_str((struct buf *)&c->removed);
	if (continuous_plans_have(&c->plans, &futex_recorder))
		ret->recorder.unkept = "waits of threads for each other are not kept, "
				       "nor is what is recorded beside them";
	else if (!continuous_plans_can_keep(&c->plans))
		ret->recorder.unkept = "samples are kept only where the kernel counts "
				       "them";
	else if (continuous_plans_has_rates(&c->plans))
		ret->recorder.unkept = "samples are kept only where periods stay: not "
				       "where a counter has a rate";
	ret->is_paused = c->is_paused;
	ret->apart = &c->settings.apart;
	ret->left = c->has_left ? &c->left : NULL;
	ret->wants_pins = c->settings.has_pins;
	ret->epoch = m ? m->epoch : 0;
	ret->label = m ? m->label : "";
	ret->database_bytes = bytes_of(c);
	ret->symbols_bytes = c->symbols ? symbol_store_bytes(c->symbols) : 0;
	ret->bytes_at_start = c->bytes_at_start;
}
