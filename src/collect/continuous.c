/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/continuous.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "collect/facts.h"
#include "collect/segment_job.h"
#include "collect/session_notes.h"
#include "host/clock.h"
#include "host/procfs.h"
#include "store/database.h"

/* Beside the epochs; no reader of the database looks at it. */
#define OPEN_RECORDING "open.dwell.part"
/* What a killed daemon loses. */
#define FLUSH_NS UINT64_C(5000000000)
/* An open recording is a segment's worth when it has grown to this, whatever the time:
 * its dictionaries are in memory. */
#define OPEN_BYTES_MAX (UINT64_C(2) << 20)

extern const struct source_ops system_source;

struct continuous {
	struct continuous_settings settings;
	struct cpus cpus;
	struct plan plan;
	struct system_recorder *recorder;
	struct database_writer *database;
	struct segment_job *job;
	struct writer *open;
	char *open_path;
	uint64_t started_ns, opened_ns, flushed_ns;
	int64_t opened_s;
	uint64_t n_failures, bytes_at_start;
	/* Of the kernel's counters, what earlier segments told. */
	uint64_t lost_before, samples_before;
	bool is_started;
};

static int64_t now_s(void)
{
	return (int64_t)(clock_read_ns(CLOCK_REALTIME) / 1000000000);
}

static uint64_t own_cpu_ns(void)
{
	struct rusage u = { 0 };

	getrusage(RUSAGE_SELF, &u);
	return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000 +
	       ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000;
}

/* Without what is mapped of the kernel's maps, which is the kernel's. */
static uint64_t own_bytes(void)
{
	char text[4096];
	const char *line;

	if (procfs_read_text("/proc/self/status", text, sizeof(text), NULL) < 0)
		return 0;
	line = strstr(text, "\nRssAnon:");
	return line ? strtoull(line + strlen("\nRssAnon:"), NULL, 10) * 1024 : 0;
}

/* The open recording. */

static int open_recording(struct continuous *c, struct err *e)
{
	struct writer_options options = { .no_time = true };
	int rc = writer_create(c->open_path, &options, &c->open, e);

	if (rc < 0)
		return rc;
	session_notes_events(c->open, &c->plan);
	session_notes_machine(c->open);
	writer_info(c->open, "experiments", c->plan.choice.name);
	writer_info(c->open, "target", "the whole machine");
	writer_info(c->open, "dwell-version", DWELL_VERSION);
	c->opened_ns = c->flushed_ns = clock_monotonic_ns();
	c->opened_s = now_s();
	system_recorder_begin(c->recorder, c->open, c->plan.events[0]);
	return 0;
}

static void note_numbers(struct continuous *c)
{
	struct system_recorder_status st;
	uint64_t lost;

	system_recorder_status(c->recorder, &st);
	lost = st.kernel.lost + st.counts.strays;
	facts_add_for(c->open, c->plan.events[0], FACT_RATE, "requested-period", "ns",
		      c->settings.period_ns);
	facts_add_for(c->open, c->plan.events[0], FACT_RATE, "delivered", "count",
		      st.counts.samples - c->samples_before);
	facts_add(c->open, FACT_TARGET, "wall-time", "ns",
		  clock_monotonic_ns() - c->opened_ns);
	facts_loss(c->open, "lost-samples", lost - c->lost_before);
	c->samples_before = st.counts.samples;
	c->lost_before = lost;
}

/* All that was counted is in the file, which ends in order. */
static int close_recording(struct continuous *c, struct err *e)
{
	struct err why = { 0 };
	int rc = system_recorder_end(c->recorder, clock_monotonic_ns(), &why), rc2;

	note_numbers(c);
	rc2 = writer_close(c->open, rc < 0 ? NULL : &why);
	c->open = NULL;
	if ((rc < 0 || rc2 < 0) && e)
		*e = why;
	return rc < 0 ? rc : rc2;
}

/* Segments. */

/* Left by a daemon that was killed: its time ends when it was written to last. */
static int adopt(struct continuous *c, struct err *e)
{
	int64_t to_s, from_s;
	struct stat st;

	if (stat(c->open_path, &st) != 0)
		return 0;
	to_s = st.st_mtim.tv_sec;
	from_s = to_s - (int64_t)(c->settings.segment_ns / 1000000000);
	return segment_job_put(c->job, c->open_path, from_s, to_s, e);
}

/* What was taken so far waits to become a segment; the next recording begins. */
static int turn(struct continuous *c, struct err *e)
{
	struct err why = { 0 };
	int64_t to_s = now_s();
	int rc = close_recording(c, &why), rc2;

	/* Also what could not be written in whole. */
	rc2 = segment_job_put(c->job, c->open_path, c->opened_s,
			      to_s > c->opened_s ? to_s : c->opened_s + 1,
			      rc < 0 ? NULL : &why);
	rc = rc < 0 ? rc : rc2;
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
	struct manifest m = { .period_ns = c->settings.period_ns, .start_s = now_s() };

	manifest_set(m.clock, "cpu-clock");
	if (label)
		manifest_set(m.label, label);
	return database_writer_begin(c->database, &m, e);
}

int continuous_flush(struct continuous *c, struct err *e)
{
	int rc = segment_job_wait(c->job, e);

	if (c->open)
		rc = turn(c, rc < 0 ? NULL : e);
	else if (c->is_started) /* it failed last time */
		rc = open_recording(c, e);
	if (rc == 0)
		rc = segment_job_start(c->job, e);
	if (rc == 0)
		rc = segment_job_wait(c->job, e);
	c->n_failures += rc < 0;
	return rc;
}

int continuous_epoch(struct continuous *c, const char *label, struct err *e)
{
	int rc = continuous_flush(c, e);

	return rc < 0 ? rc : begin_epoch(c, label, e);
}

int continuous_label(struct continuous *c, const char *label, struct err *e)
{
	int rc = segment_job_wait(c->job, e);

	return rc < 0 ? rc : database_writer_label(c->database, label, e);
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
	struct utsname u = { .nodename = "localhost" };
	int rc;

	uname(&u);
	rc = database_writer_open(c->settings.database,
				  c->settings.host ? c->settings.host : u.nodename,
				  &c->database, e);
	if (rc < 0)
		return rc;
	c->open_path =
		xasprintf("%s/" OPEN_RECORDING, database_writer_directory(c->database));
	c->job = segment_job_new(c->database, &c->settings.retention);
	c->bytes_at_start = bytes_of(c);
	if (!database_writer_continue(c->database))
		rc = begin_epoch(c, c->settings.label, e);
	return rc < 0 ? rc : adopt(c, e);
}

static int start(struct continuous *c, struct err *e)
{
	struct system_sampler_settings s = { .cpus = &c->cpus,
					     .period_ns = c->settings.period_ns,
					     .is_fixed = c->settings.is_fixed,
					     .is_flat = c->settings.is_flat,
					     .is_timed = c->settings.is_timed,
					     .has_threads = c->settings.has_threads,
					     .has_processes = c->settings.has_processes };
	int rc = system_recorder_new(&s, &c->recorder, e);

	if (rc == 0)
		rc = open_recording(c, e);
	if (rc == 0)
		rc = system_recorder_start(c->recorder, e);
	c->is_started = rc == 0;
	return rc;
}

int continuous_new(const struct continuous_settings *settings, struct continuous **ret,
		   struct err *e)
{
	own(continuous_freep) struct continuous *c = xcalloc(1, sizeof(*c));
	int rc = experiment_find(settings->is_flat ? "pcsamp" : "usertime",
				 &c->plan.choice, e);

	if (rc == 0)
		rc = system_source.probe(c->plan.choice.experiment,
					 &(struct scope){ .kind = SCOPE_CPUS }, e);
	c->settings = *settings;
	c->plan.choice.interval = settings->period_ns;
	c->plan.source = &system_source;
	c->started_ns = clock_monotonic_ns();
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

void continuous_free(struct continuous *c)
{
	if (!c)
		return;
	system_recorder_free(c->recorder);
	writer_free(c->open);
	segment_job_free(c->job);
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

int continuous_fd(const struct continuous *c)
{
	return system_recorder_fd(c->recorder);
}

static bool is_segment_due(const struct continuous *c, uint64_t now_ns)
{
	return now_ns - c->opened_ns >= c->settings.segment_ns ||
	       writer_bytes(c->open) >= OPEN_BYTES_MAX;
}

static int make_segment(struct continuous *c, struct err *e)
{
	int rc = turn(c, e);

	if (rc == 0)
		rc = segment_job_start(c->job, e);
	c->n_failures += rc < 0;
	return rc;
}

int continuous_work(struct continuous *c, struct err *e)
{
	uint64_t now_ns = clock_monotonic_ns();
	int rc = 0;

	system_recorder_work(c->recorder, now_ns);
	if (segment_job_poll(c->job, &rc, e) && rc < 0) {
		c->n_failures++;
		return rc;
	}
	if (!c->open)
		return open_recording(c, e);
	if (is_segment_due(c, now_ns))
		return make_segment(c, e);
	if (now_ns - c->flushed_ns < FLUSH_NS)
		return 0;
	c->flushed_ns = now_ns;
	return writer_flush(c->open, e);
}

int continuous_recent(struct continuous *c, struct continuous_recent *ret, struct err *e)
{
	struct system_recorder_status st;
	uint64_t now_ns = clock_monotonic_ns();
	int rc = c->open ? 0 : open_recording(c, e);

	if (rc < 0)
		return rc;
	system_recorder_drain(c->recorder, now_ns);
	rc = writer_flush(c->open, e);
	if (rc < 0)
		return rc;
	c->flushed_ns = now_ns;
	system_recorder_status(c->recorder, &st);
	*ret = (struct continuous_recent){
		.path = c->open_path,
		.opened_ns = c->opened_ns,
		.taken_ns = now_ns,
		.period_ns = c->settings.period_ns,
		.lost = st.kernel.lost + st.counts.strays,
		.cpu_ns = own_cpu_ns(),
		.own_bytes = own_bytes(),
		.kernel_bytes = st.rows_bytes + st.other_bytes,
		.has_processes = c->settings.has_processes,
	};
	return 0;
}

int continuous_stop(struct continuous *c, struct err *e)
{
	system_recorder_stop(c->recorder);
	c->is_started = false;
	return continuous_flush(c, e);
}

void continuous_status(const struct continuous *c, struct continuous_status *ret)
{
	const struct manifest *m = database_writer_epoch(c->database);

	*ret = (struct continuous_status){ .running_ns =
						   clock_monotonic_ns() - c->started_ns,
					   .period_ns = c->settings.period_ns,
					   .n_segments = segment_job_n_segments(c->job),
					   .n_failures = c->n_failures };
	system_recorder_status(c->recorder, &ret->recorder);
	ret->cpu_ns = own_cpu_ns();
	ret->own_bytes = own_bytes();
	ret->epoch = m ? m->epoch : 0;
	ret->label = m ? m->label : "";
	ret->database_bytes = bytes_of(c);
	ret->bytes_at_start = c->bytes_at_start;
}
