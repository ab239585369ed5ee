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
#include <sys/utsname.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "collect/facts.h"
#include "collect/segment_job.h"
#include "collect/segment_maker.h"
#include "collect/session_notes.h"
#include "collect/symbol_store.h"
#include "collect/system_pins.h"
#include "host/clock.h"
#include "host/kernel.h"
#include "host/procfs.h"
#include "host/self_cost.h"
#include "store/database.h"

/* Beside the epochs; no reader of the database looks at it. */
#define OPEN_RECORDING "open.dwell.part"
/* What a killed daemon loses. */
#define FLUSH_NS UINT64_C(5000000000)
/* An open recording is a segment's worth when it has grown to this, whatever the time:
 * its dictionaries are in memory. */
#define OPEN_BYTES_MAX (UINT64_C(2) << 20)
/* A segment that could not be made is tried again then. */
#define RETRY_NS UINT64_C(60000000000)
#define TICK_MS	 100
/* A client waits until what it asked for is done; only who is to end has no time. */
#define FOR_EVER  UINT64_MAX
#define TOO_LATE  "making segments takes too long; what was taken waits beside the epochs"
#define KEEP_NAME 40
/* What empties the rings does not wait for those whose samples are in them. */
#define DAEMON_NICE (-15)

struct continuous {
	struct continuous_settings settings;
	struct cpus cpus;
	struct plan plans[SYSTEM_EVENTS_MAX];
	size_t n_plans;
	const struct recorder_ops *recording; /* by whom; of states apart */
	struct recorder *recorder;
	char how[160];
	struct err refusal; /* of the best */
	char notice[400];
	struct utsname machine;
	struct database_writer *database;
	struct segment_job *job;
	struct symbol_store *symbols; /* or NULL */
	struct writer *open;
	char *open_path;
	char keep[KEEP_NAME];	   /* of what the kernel keeps for this database */
	struct recorder_left left; /* by a killed one */
	bool has_left;
	uint64_t started_ns, opened_ns, flushed_ns;
	uint64_t retry_ns;	 /* segments are made then, though none is due; 0: not */
	uint64_t opened_boot_ns; /* of the clock that goes on while suspended */
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

/* The open recording. */

/* Of a file, which no other has for long; 0: there is none. */
static uint64_t recording_id(const char *path, struct statx *ret)
{
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_BASIC_STATS | STATX_BTIME, &st) != 0)
		return 0;
	if (ret)
		*ret = st;
	if (!(st.stx_mask & STATX_BTIME))
		st.stx_btime = (struct statx_timestamp){ 0 };
	return hash_pair(hash_pair(st.stx_ino, (uint64_t)st.stx_btime.tv_sec),
			 st.stx_btime.tv_nsec) |
	       1;
}

/* It can be told from all others, and whose kernel's addresses are in it. */
static void name_recording(struct continuous *c)
{
	char text[KERNEL_BOOT_ID_MAX];

	if (kernel_boot_id(text))
		writer_info(c->open, SEGMENT_MAKER_BOOT, text);
	if (procfs_read_text("/proc/sys/kernel/random/uuid", text, sizeof(text), NULL) ==
	    0)
		writer_info(c->open, DATABASE_WRITER_RECORDING, text);
}

/* Declares the events, and says what they are. */
static void begin_recording(struct continuous *c)
{
	struct buf names = { 0 };

	for (size_t i = 0; i < c->n_plans; i++) {
		session_notes_events(c->open, &c->plans[i]);
		buf_printf(&names, "%s%s", i ? "," : "", c->plans[i].choice.name);
	}
	writer_info(c->open, "experiments", buf_str(&names));
	c->recorder->ops->begin(c->recorder, c->open, c->plans);
	if (c->recorder->ops->keep)
		c->recorder->ops->keep(c->recorder, recording_id(c->open_path, NULL));
	buf_fini(&names);
}

static int open_recording(struct continuous *c, struct err *e)
{
	struct writer_options options = { .no_time = true };
	int rc = writer_create(c->open_path, &options, &c->open, e);

	if (rc < 0)
		return rc;
	session_notes_machine(c->open);
	writer_info(c->open, "target", "the whole machine");
	writer_info(c->open, "dwell-version", DWELL_VERSION);
	if (c->notice[0])
		writer_info(c->open, "notice", c->notice);
	name_recording(c);
	c->opened_ns = c->flushed_ns = clock_monotonic_ns();
	c->opened_boot_ns = clock_read_ns(CLOCK_BOOTTIME);
	begin_recording(c);
	return 0;
}

/* All that was counted is in the file, which ends in order. */
static int close_recording(struct continuous *c, struct err *e)
{
	struct err why = { 0 };
	uint64_t now_ns = clock_monotonic_ns();
	int rc = c->recorder->ops->end(c->recorder, now_ns, false, &why), rc2;

	facts_add(c->open, FACT_TARGET, "wall-time", "ns", now_ns - c->opened_ns);
	rc2 = writer_close(c->open, rc < 0 ? NULL : &why);
	c->open = NULL;
	if ((rc < 0 || rc2 < 0) && e)
		*e = why;
	return rc < 0 ? rc : rc2;
}

/* Segments. */

static int put(struct continuous *c, const struct segment_job_span *s, struct err *e)
{
	return segment_job_put(database_writer_directory(c->database), c->open_path,
			       s->from_s, s->to_s, e);
}

/* What is behind these bytes is taken from the kernel again. */
static int cut(const struct continuous *c, uint64_t id, const struct statx *st,
	       struct err *e)
{
	if (!c->has_left || id != c->left.recording || st->stx_size <= c->left.bytes)
		return 0;
	if (truncate(c->open_path, (off_t)c->left.bytes) != 0)
		return err_os(e, "cannot cut '%s'", c->open_path);
	return 0;
}

/* Left by a daemon that was killed: its time is from when the file was made, where that
 * is known, to when it was written to last. */
static int adopt(struct continuous *c, struct err *e)
{
	struct segment_job_span s;
	struct statx st;
	uint64_t id = recording_id(c->open_path, &st);
	int rc;

	if (!id)
		return 0;
	rc = cut(c, id, &st, e);
	if (rc < 0)
		return rc;
	s.to_s = st.stx_mtime.tv_sec;
	s.from_s = s.to_s - (int64_t)(c->settings.segment_ns / 1000000000);
	if ((st.stx_mask & STATX_BTIME) && st.stx_btime.tv_sec <= s.to_s &&
	    st.stx_btime.tv_sec > s.from_s)
		s.from_s = st.stx_btime.tv_sec;
	return put(c, &s, e);
}

/* What was taken so far waits to become a segment; the next recording begins. */
static int turn(struct continuous *c, struct err *e)
{
	struct err why = { 0 };
	struct segment_job_span span =
		segment_job_span(clock_read_ns(CLOCK_REALTIME),
				 clock_read_ns(CLOCK_BOOTTIME) - c->opened_boot_ns);
	int rc = close_recording(c, &why), rc2;

	/* Also what could not be written in whole. */
	rc2 = put(c, &span, rc < 0 ? NULL : &why);
	rc = rc < 0 ? rc : rc2;
	malloc_trim(0); /* the dictionaries of what was closed */
	if (c->is_started) {
		rc2 = open_recording(c, rc < 0 ? NULL : &why);
		rc = rc < 0 ? rc : rc2;
	}
	if (rc < 0 && e)
		*e = why;
	return rc;
}

static bool is_states(const struct plan *p)
{
	return p->choice.experiment->trigger == EXPERIMENT_STATES;
}

static bool is_clock(const struct plan *p)
{
	return strcmp(p->choice.experiment->unit, "ns") == 0 && !is_states(p);
}

/* What a sample stands for, where all stand for time alike; 0: several events, or other
 * ones, which say it each for itself. */
static uint64_t clock_period_ns(const struct continuous *c)
{
	const struct plan *sampled = NULL;

	for (size_t i = 0; i < c->n_plans; i++) {
		if (is_states(&c->plans[i]))
			continue;
		if (sampled || !is_clock(&c->plans[i]))
			return 0;
		sampled = &c->plans[i];
	}
	return sampled ? sampled->choice.interval : 0;
}

static int begin_epoch(struct continuous *c, const char *label, struct err *e)
{
	struct manifest m = { .period_ns = clock_period_ns(c), .start_s = now_s() };

	manifest_set(m.clock, "cpu-clock");
	if (label)
		manifest_set(m.label, label);
	return database_writer_begin(c->database, &m, e);
}

/* How making segments ended, which may be tried again. */
static int note_result(struct continuous *c, int rc)
{
	c->retry_ns = rc < 0 ? clock_monotonic_ns() + RETRY_NS : 0;
	c->n_failures += rc < 0;
	return rc;
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
			return note_result(c, err_set(e, ERR_LIMIT, TOO_LATE));
		rc = wait_a_tick(c, &until_ns, e);
		if (rc < 0)
			return rc;
	}
	return note_result(c, rc);
}

/* What is made lazily is made at once now; what failed before is tried again, too. */
static int flush(struct continuous *c, uint64_t until_ns, struct err *e)
{
	int rc = 0;

	segment_job_interrupt(c->job);
	if (c->open)
		rc = turn(c, e);
	else if (c->is_started) /* it failed last time */
		rc = open_recording(c, e);
	if (rc == 0)
		rc = segment_job_start(c->job, true, e);
	if (rc < 0)
		return note_result(c, rc);
	return wait_for_segments(c, until_ns, e);
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

static int open_database(struct continuous *c, struct err *e)
{
	struct segment_job_settings job = { .command = c->settings.maker,
					    .database = c->settings.database,
					    .retention = c->settings.retention };
	int rc;

	uname(&c->machine);
	job.host = c->settings.host ? c->settings.host : c->machine.nodename;
	rc = database_writer_open(job.database, job.host, &c->database, e);
	if (rc < 0)
		return rc;
	c->open_path =
		xasprintf("%s/" OPEN_RECORDING, database_writer_directory(c->database));
	job.lock = database_writer_lock(c->database);
	c->job = segment_job_new(&job);
	c->retry_ns = c->started_ns; /* what the last daemon left */
	c->bytes_at_start = bytes_of(c);
	if (!database_writer_continue(c->database))
		rc = begin_epoch(c, c->settings.label, e);
	return rc;
}

/* By which directory it is, whatever it is called. */
static int name_keep(struct continuous *c, struct err *e)
{
	struct stat st;

	if (stat(database_writer_directory(c->database), &st) != 0)
		return err_os(e, "cannot look at '%s'",
			      database_writer_directory(c->database));
	snprintf(c->keep, sizeof(c->keep), "%lx-%lx", (unsigned long)st.st_dev,
		 (unsigned long)st.st_ino);
	return 0;
}

static int open_symbols(struct continuous *c, struct err *e)
{
	own(freep) char *path =
		xasprintf("%s/" DATABASE_SYMBOLS, database_writer_directory(c->database));

	return symbol_store_new(path, c->settings.symbols_max_bytes, &c->symbols, e);
}

/* The next recording begins where the killed one's ends. */
static void begin_earlier(struct continuous *c)
{
	uint64_t ago_ns = clock_read_ns(CLOCK_BOOTTIME) - c->left.since_ns;
	char gap[TEXT_MAX], samples[TEXT_MAX], text[200];

	c->opened_ns -= ago_ns < c->opened_ns ? ago_ns : c->opened_ns;
	c->opened_boot_ns = c->left.since_ns;
	snprintf(text, sizeof(text),
		 "from a daemon that was killed, after %s; %s samples meanwhile%s",
		 text_duration(gap, c->left.gap_ns), text_count(samples, c->left.samples),
		 c->left.has_ended ? ", until the kernel stopped by itself" : "");
	writer_info(c->open, "taken-over", text);
}

/* What a killed daemon left, on disk and in the kernel. */
static int take_over(struct continuous *c, struct err *e)
{
	const struct recorder_ops *ops = c->recorder->ops;
	int rc;

	c->has_left = ops->left && ops->left(c->recorder, &c->left);
	rc = adopt(c, e);
	if (rc == 0)
		rc = open_recording(c, e);
	if (rc == 0 && c->has_left)
		begin_earlier(c);
	return rc;
}

/* Where states are recorded beside, a part of the recording could not be taken again. */
static bool has_pins(const struct continuous *c)
{
	return c->settings.has_pins && c->recording->keep;
}

static int start(struct continuous *c, struct err *e)
{
	struct recorder_settings s = { .cpus = &c->cpus,
				       .plans = c->plans,
				       .n_plans = c->n_plans,
				       .n_at_once = c->settings.n_at_once,
				       .is_fixed = c->settings.is_fixed,
				       .is_flat = c->settings.is_flat,
				       .depth = c->settings.depth,
				       .drain_ns = c->settings.drain_ns,
				       .is_timed = c->settings.is_timed,
				       .keep = c->keep,
				       .has_pins = has_pins(c),
				       .has_threads = c->settings.has_threads,
				       .has_processes = c->settings.has_processes };
	int rc = 0;

	if (c->settings.symbols_max_bytes)
		rc = open_symbols(c, e);
	s.symbols = c->symbols;
	if (rc == 0)
		rc = name_keep(c, e);
	/* Nobody may count beside us. */
	if (rc == 0 && !s.has_pins)
		system_pins_forget(c->keep);
	if (rc == 0)
		rc = c->recording->open(&s, &c->recorder, e);
	if (rc == 0)
		rc = take_over(c, e);
	if (rc == 0)
		rc = c->recorder->ops->start(c->recorder, e);
	c->is_started = rc == 0;
	return rc;
}

/* What is sampled, each as if it had been asked for alone. */
static int make_plans(struct continuous *c, struct err *e)
{
	const struct continuous_settings *x = &c->settings;

	c->n_plans = x->n_events ? x->n_events : 1;
	for (size_t i = 0; i < x->n_events; i++)
		c->plans[i].choice = x->events[i];
	if (x->n_events)
		return 0;
	return experiment_find(x->is_flat ? "pcsamp" : "usertime", &c->plans[0].choice,
			       e);
}

/* Counters are sampled in one way only. */
static int check_counters(const struct continuous *c, struct err *e)
{
	const struct scope scope = { .kind = SCOPE_CPUS };
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < c->n_plans; i++)
		if (c->plans[i].choice.experiment->counter)
			rc = system_recorder.source->probe(c->plans[i].choice.experiment,
							   &scope, e);
	return rc;
}

/* The clock's period, where none was asked for, is the recorder's. */
static void set_periods(struct continuous *c)
{
	bool has_own = c->settings.n_events > 0;

	if (!c->settings.period_ns)
		c->settings.period_ns = 1000000000 / c->recording->hz;
	for (size_t i = 0; i < c->n_plans; i++) {
		struct experiment_choice *choice = &c->plans[i].choice;

		if (is_states(&c->plans[i]))
			continue;
		c->plans[i].source = c->recording->source;
		if (!has_own || !choice->interval)
			choice->interval = c->settings.period_ns;
	}
}

/* The states of threads have a recorder of their own, beside what samples. */
static const struct plan *add_states(struct continuous *c)
{
	const struct plan *sampled = NULL;

	for (size_t i = 0; i < c->n_plans; i++) {
		if (is_states(&c->plans[i]))
			c->plans[i].source = states_recorder.source;
		else if (!sampled)
			sampled = &c->plans[i];
	}
	return sampled;
}

/* "cpu-clock …; switches of threads …" */
static void describe(struct continuous *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_plans && n < sizeof(c->how); i++) {
		const struct plan *p = &c->plans[i];
		size_t k = 0;

		while (c->plans[k].source != p->source)
			k++;
		if (k == i) /* the first of its source */
			n += (size_t)snprintf(c->how + n, sizeof(c->how) - n, "%s%s",
					      n ? "; " : "",
					      p->source->how(p->choice.experiment, 0));
	}
}

/* What samples: what counts in the kernel, else what can be had. */
static int choose_sampler(struct continuous *c, const struct plan *sampled, struct err *e)
{
	c->recording = recorder_choose(sampled->choice.experiment, &c->refusal, e);
	if (!c->recording)
		return ERR_UNSUPPORTED;
	if (c->refusal.text[0])
		snprintf(c->notice, sizeof(c->notice),
			 "not counted in the kernel (%.200s): %s samples, and stacks are "
			 "walked in user space, at a higher cost",
			 c->refusal.text, c->recording->source->name);
	return 0;
}

static int choose_recorder(struct continuous *c, struct err *e)
{
	const struct plan *sampled = add_states(c);
	int rc = check_counters(c, e);

	c->recording = &states_recorder;
	if (rc == 0 && sampled)
		rc = choose_sampler(c, sampled, e);
	if (rc < 0)
		return rc;
	set_periods(c);
	describe(c);
	for (size_t i = 0; i < c->n_plans; i++)
		if (c->plans[i].source != c->plans[0].source)
			c->recording = &joint_recorder;
	return 0;
}

int continuous_new(const struct continuous_settings *settings, struct continuous **ret,
		   struct err *e)
{
	own(continuous_freep) struct continuous *c = xcalloc(1, sizeof(*c));
	int rc;

	/* Where it may; also while the kernel holds what a killed one left. */
	setpriority(PRIO_PROCESS, 0, DAEMON_NICE);
	c->settings = *settings;
	c->started_ns = clock_monotonic_ns();
	rc = make_plans(c, e);
	if (rc == 0)
		rc = choose_recorder(c, e);
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
		rc = name_keep(c, e);
	if (rc == 0)
		*ret_was_there = system_pins_forget(c->keep);
	return rc;
}

void continuous_free(struct continuous *c)
{
	if (!c)
		return;
	recorder_free(c->recorder);
	writer_free(c->open);
	segment_job_free(c->job);
	symbol_store_free(c->symbols);
	database_writer_close(c->database);
	cpus_fini(&c->cpus);
	free(c->open_path);
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
	return now_ns - c->opened_ns >= c->settings.segment_ns ||
	       writer_bytes(c->open) >= OPEN_BYTES_MAX;
}

/* Of what waits; of what waits when somebody is at it, again when they have ended. */
static int make_segments(struct continuous *c, struct err *e)
{
	int rc;

	c->is_again = segment_job_pid(c->job) != 0;
	rc = segment_job_start(c->job, false, e);

	c->retry_ns = 0;
	return rc < 0 ? note_result(c, rc) : 0;
}

static int end_segment(struct continuous *c, struct err *e)
{
	int rc = turn(c, e);

	return rc < 0 ? note_result(c, rc) : make_segments(c, e);
}

int continuous_work(struct continuous *c, struct err *e)
{
	uint64_t now_ns = clock_monotonic_ns();
	int rc = 0;

	work(c, now_ns);
	if (segment_job_poll(c->job, &rc, e) && note_result(c, rc) < 0)
		return rc;
	if (c->is_again && !segment_job_pid(c->job))
		return make_segments(c, e);
	if (!c->open)
		return open_recording(c, e);
	if (is_segment_due(c, now_ns))
		return end_segment(c, e);
	if (c->retry_ns && now_ns >= c->retry_ns)
		return make_segments(c, e);
	if (now_ns - c->flushed_ns < FLUSH_NS)
		return 0;
	c->flushed_ns = now_ns;
	return writer_flush(c->open, e);
}

int continuous_recent(struct continuous *c, struct continuous_recent *ret, struct err *e)
{
	struct recorder_status st;
	uint64_t now_ns = clock_monotonic_ns();
	int rc = c->open ? 0 : open_recording(c, e);

	if (rc < 0)
		return rc;
	c->recorder->ops->drain(c->recorder, now_ns);
	rc = writer_flush(c->open, e);
	if (rc < 0)
		return rc;
	c->flushed_ns = now_ns;
	c->recorder->ops->status(c->recorder, &st);
	*ret = (struct continuous_recent){
		.path = c->open_path,
		.refusal = c->refusal.text,
		.opened_ns = c->opened_ns,
		.taken_ns = now_ns,
		.period_ns = clock_period_ns(c),
		.lost = st.lost,
		.cpu_ns = own_cpu_ns(),
		.own_bytes = own_bytes(c),
		.kernel_bytes = st.kernel_bytes,
		.has_processes = c->settings.has_processes,
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

	*ret = (struct continuous_status){ .running_ns =
						   clock_monotonic_ns() - c->started_ns,
					   .how = c->how,
					   .notice = c->notice,
					   .period_ns = clock_period_ns(c),
					   .n_segments = segment_job_n_segments(c->job),
					   .n_failures = c->n_failures };
	ret->n_damaged = segment_maker_n_damaged(database_writer_directory(c->database));
	c->recorder->ops->status(c->recorder, &ret->recorder);
	ret->cpu_ns = own_cpu_ns();
	ret->maker_peak_bytes = self_cost_children_peak_bytes();
	ret->own_bytes = own_bytes(c);
	if (!c->recording->keep)
		ret->recorder.unkept = "samples are kept only where the kernel counts "
				       "them and nothing else is recorded";
	ret->is_paused = c->is_paused;
	ret->left = c->has_left ? &c->left : NULL;
	ret->epoch = m ? m->epoch : 0;
	ret->label = m ? m->label : "";
	ret->database_bytes = bytes_of(c);
	ret->symbols_bytes = c->symbols ? symbol_store_bytes(c->symbols) : 0;
	ret->bytes_at_start = c->bytes_at_start;
}
