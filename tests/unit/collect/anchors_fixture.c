/* SPDX-License-Identifier: Apache-2.0 */
#include "anchors_fixture.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/writer.h"

void anchors_fixture_begin(struct anchors_fixture *f, const char *name)
{
	*f = (struct anchors_fixture){ .plan = { .source = &anchors_source } };
	snprintf(f->path, sizeof(f->path), "/tmp/%s.%d.dwell", name, getpid());
	assert_int_equal(
		writer_create(f->path, &(struct writer_options){ 0 }, &f->writer, NULL),
		0);
	f->tracker = tracker_new(f->writer);
}

void anchors_fixture_observe(struct anchors_fixture *f, pid_t child, uint64_t pct)
{
	f->child = child;
	f->plan.choice.interval = pct;
	f->scope = (struct scope){ .kind = SCOPE_PROCESSES,
				   .pids = &f->child,
				   .n_pids = 1,
				   .follow_children = true };

	struct source_context context = { .scope = &f->scope,
					  .plans = &f->plan,
					  .n_plans = 1,
					  .tracker = f->tracker,
					  .writer = f->writer };

	assert_int_equal(anchors_source.open(&context, &f->source, NULL), 0);
	assert_int_equal(anchors_source.start(f->source, 0, NULL), 0);
}

bool anchors_fixture_drain(const struct anchors_fixture *f)
{
	struct pollfd fd;

	assert_int_equal(anchors_source.fds(f->source, &fd, 1), 1);
	assert_int_equal(poll(&fd, 1, -1), 1);
	assert_int_equal(anchors_source.drain(f->source, false, NULL), 0);
	return poll(&fd, 1, 0) == 0;
}

struct recording *anchors_fixture_finish(struct anchors_fixture *f,
					 struct source_stats *stats)
{
	struct recording *r = NULL;

	anchors_source.stop(f->source);
	assert_int_equal(anchors_source.drain(f->source, true, NULL), 0);
	anchors_source.finish(f->source, stats);
	anchors_source.free(f->source);
	assert_int_equal(tracker_finish(f->tracker, true, NULL), 0);
	tracker_free(f->tracker);
	assert_int_equal(writer_close(f->writer, NULL), 0);
	assert_int_equal(recording_open(f->path, &r, NULL), 0);
	unlink(f->path);
	return r;
}

uint64_t anchors_fixture_cpu_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &t), 0);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void anchors_fixture_wait_for_work(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = ANCHORS_FIXTURE_PAUSE_NS };
	uint64_t from_ns = anchors_fixture_cpu_ns(pid);

	while (anchors_fixture_cpu_ns(pid) < from_ns + ANCHORS_FIXTURE_WORK_NS)
		nanosleep(&pause, NULL);
}
