/* SPDX-License-Identifier: Apache-2.0 */
#include "counts_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

uint32_t counts_fixture_event_of(struct counts_fixture *f, const char *name)
{
	return writer_event(f->writer,
			    &(struct model_event){ .name = writer_string(f->writer, name),
						   .period = PERIOD_NS });
}

void counts_fixture_set_up_choosing(struct counts_fixture *f, bool is_kept,
				    const struct path_choice *chosen)
{
	struct system_counts_events events = {
		.periods = { [STATE_RECORD_USER] = PERIOD_NS },
		.is_kept = is_kept,
		.is_by_thread = is_kept,
		.chosen = chosen,
	};

	memset(f, 0, sizeof(*f));
	snprintf(f->path, sizeof(f->path), "/tmp/system_counts_test.XXXXXX");

	own(closep) int fd = mkstemp(f->path);

	assert_true(fd >= 0);
	assert_int_equal(
		writer_create(f->path, &(struct writer_options){ 0 }, &f->writer, NULL),
		0);
	f->images = system_images_new(NULL);
	f->counts = system_counts_new(f->images);
	events.ids[STATE_RECORD_USER] = counts_fixture_event_of(f, "first");
	events.ids[STATE_RECORD_WAIT_CPU] = counts_fixture_event_of(f, "wait-cpu");
	events.ids[STATE_RECORD_SLEEP] = counts_fixture_event_of(f, "sleep");
	events.ids[STATE_RECORD_WAKEUPS] = counts_fixture_event_of(f, "wakeups");
	events.ids[STATE_RECORD_LATENCY] = counts_fixture_event_of(f, "wakeup-latency");
	events.ids[STATE_RECORD_WOKEN] = counts_fixture_event_of(f, "woken-wait");
	system_counts_begin(f->counts, f->writer, &events);
}

void counts_fixture_set_up_as(struct counts_fixture *f, bool is_kept)
{
	counts_fixture_set_up_choosing(f, is_kept, NULL);
}

void counts_fixture_set_up(struct counts_fixture *f)
{
	counts_fixture_set_up_as(f, false);
}

/* Samples counted so far are in f->samples from now on. */
void counts_fixture_finish(struct counts_fixture *f)
{
	assert_int_equal(system_counts_end(f->counts, true, NULL), 0);
	assert_int_equal(writer_close(f->writer, NULL), 0);
	assert_int_equal(recording_open(f->path, &f->recording, NULL), 0);
	if (recording_n_sample_blocks(f->recording))
		assert_int_equal(recording_read_samples(f->recording, 0, SAMPLE_ALL,
							&f->samples, NULL),
				 0);
}

void counts_fixture_tear_down(struct counts_fixture *f)
{
	sample_block_fini(&f->samples);
	recording_free(f->recording);
	system_counts_free(f->counts);
	system_images_free(f->images);
	unlink(f->path);
}

/* A process that runs main() of its executable. */
struct stack_record counts_fixture_running(uint64_t key, uint32_t pid)
{
	struct stack_record r = { .kind = STACK_RECORD_STACK,
				  .key = key,
				  .pid = pid,
				  .tid = pid,
				  .comm = "prog",
				  .exe = EXE,
				  .n_user = 1,
				  .stop = STACK_STOP_END,
				  .frames = { MAIN } };
	return r;
}

void counts_fixture_count(struct counts_fixture *f, const struct stack_record *r,
			  uint32_t n)
{
	system_counts_stack(f->counts, r);
	system_counts_count(f->counts, r->table, r->key, n);
}

struct stack_record counts_fixture_thread_at(uint64_t key, uint64_t time_ns,
					     const char *name, uint32_t exe)
{
	struct stack_record r = counts_fixture_running(key, 100);

	r.flags = STACK_RECORD_IS_PROCESS | STACK_RECORD_IS_THREAD;
	r.time_ns = time_ns;
	r.exe = exe;
	snprintf(r.thread_comm, sizeof(r.thread_comm), "%s", name);
	return r;
}
