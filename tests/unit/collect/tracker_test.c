/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/tracker.h"

#include <stdio.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/inject_place.h"
#include "host/cgroup_names.h"
#include "host/procfs.h"
#include "store/recording.h"

/* Pids that no running process has, so that nothing is learnt from /proc. */
#define PID 0x7ffffff0u

struct fixture {
	char path[64];
	struct writer *writer;
	struct tracker *tracker;
	uint32_t event;
};

static void begin(struct fixture *f)
{
	snprintf(f->path, sizeof(f->path), "/tmp/tracker_test.%d.dwell", getpid());
	assert_int_equal(
		writer_create(f->path, &(struct writer_options){ 0 }, &f->writer, NULL),
		0);
	f->tracker = tracker_new(f->writer);
	f->event =
		writer_event(f->writer, &(struct model_event){ .flags = EVENT_SAMPLED });
}

static void finish(struct fixture *f, struct recording **ret)
{
	struct err e = { 0 };

	assert_int_equal(tracker_finish(f->tracker, true, NULL), 0);
	tracker_free(f->tracker);
	assert_int_equal(writer_close(f->writer, NULL), 0);
	if (recording_open(f->path, ret, &e) < 0)
		fail_msg("%s", e.text);
	unlink(f->path);
}

static void map_code(struct fixture *f, uint32_t pid, uint64_t start, const char *path)
{
	tracker_mmap(f->tracker, 5, pid,
		     &(struct tracker_mmap){ .start = start,
					     .end = start + 0x1000,
					     .file_offset = 0x100,
					     .path = path,
					     .inode = 1,
					     .is_exec = true });
}

static uint32_t sample(struct fixture *f, uint32_t pid, const uint64_t *pcs, size_t n,
		       enum unwind_stop stop)
{
	return tracker_sample(f->tracker, &(struct tracker_sample){ .time_ns = 10,
								    .weight = 7,
								    .event = f->event,
								    .pid = pid,
								    .tid = pid,
								    .count = 1,
								    .user_pcs = pcs,
								    .n_user = n,
								    .stop = stop });
}

static const struct model_location *location(const struct recording *r, uint32_t stack)
{
	return &recording_locations(r)[recording_stacks(r)[stack].location];
}

static const char *path_of(const struct recording *r, const struct model_location *l)
{
	return recording_string(r, recording_image(r, l->image)->path);
}

static void stacks_are_places_in_images_under_their_callers(void **state)
{
	static const uint64_t pcs[] = { 0x1010, 0x2020, 0x9999 };
	struct fixture f;
	struct recording *r;

	(void)state;
	begin(&f);
	tracker_exec(f.tracker, 1, PID, PID, "prog");
	map_code(&f, PID, 0x1000, "/no/such/lib");
	map_code(&f, PID, 0x2000, "/no/such/prog");

	uint32_t stack = sample(&f, PID, pcs, 3, UNWIND_BAD_RULE);

	assert_int_equal(sample(&f, PID, pcs, 3, UNWIND_BAD_RULE), stack);
	assert_int_equal(tracker_stops(f.tracker)[UNWIND_BAD_RULE], 2);
	finish(&f, &r);

	const struct model_location *l = location(r, stack);

	assert_string_equal(path_of(r, l), "/no/such/lib");
	assert_int_equal(l->offset, 0x110);
	assert_int_equal(l->flags, 0);
	stack = recording_stacks(r)[stack].parent;
	l = location(r, stack);
	assert_string_equal(path_of(r, l), "/no/such/prog");
	assert_int_equal(l->flags, LOCATION_RETURN);
	stack = recording_stacks(r)[stack].parent;
	assert_int_equal(recording_image(r, location(r, stack)->image)->kind,
			 IMAGE_UNKNOWN);
	stack = recording_stacks(r)[stack].parent;
	assert_int_equal(recording_image(r, location(r, stack)->image)->kind,
			 IMAGE_TRUNCATED);
	assert_int_equal(location(r, stack)->offset, UNWIND_BAD_RULE);
	assert_int_equal(recording_stacks(r)[stack].parent, 0);
	recording_free(r);
}

/* Where a wrapper was called from, unless that is where a signal came. */
static void the_stack_of_a_call_ends_behind_it(void **state)
{
	static const uint64_t pcs[] = { 0x1010, 0x1020 };
	static const uint8_t exact[] = { 1 };
	struct fixture f;
	struct recording *r;
	struct tracker_sample s = { .time_ns = 10,
				    .weight = 1,
				    .pid = PID,
				    .tid = PID,
				    .count = 1,
				    .user_pcs = pcs,
				    .n_user = 2,
				    .is_call = true };
	uint32_t called, interrupted;

	(void)state;
	begin(&f);
	tracker_exec(f.tracker, 1, PID, PID, "prog");
	map_code(&f, PID, 0x1000, "/no/such/prog");
	s.event = f.event;
	called = tracker_sample(f.tracker, &s);
	s.user_exact = exact;
	interrupted = tracker_sample(f.tracker, &s);
	finish(&f, &r);
	assert_int_equal(location(r, called)->flags, LOCATION_RETURN);
	assert_int_equal(location(r, interrupted)->flags, 0);
	recording_free(r);
}

static bool is_own(const struct recording *r, uint32_t stack)
{
	const struct model_location *l = location(r, stack);

	return recording_image(r, l->image)->kind == IMAGE_LABEL &&
	       !strcmp(path_of(r, l), "[dwell tracing]");
}

/* What it does itself is one frame, whichever; what it leads on to is the caller's. */
static void our_own_code_is_told_apart_from_the_program(void **state)
{
	static const uint64_t within[] = { 0x2020, 0x2040, 0x1010 },
			      elsewhere[] = { 0x2060, 0x1010 },
			      by_clock[] = { 0x4010, 0x2060, 0x1010 },
			      beyond[] = { 0x3010, 0x2020, 0x1010 },
			      clock[] = { 0x4010, 0x1010 },
			      put[] = { INJECT_PLACE_FIRST + 0x5000, 0x1010 };
	struct fixture f;
	struct recording *r;
	uint32_t in, in_as_well, in_clock, through, its_clock, put_in;

	(void)state;
	begin(&f);
	tracker_exec(f.tracker, 1, PID, PID, "prog");
	map_code(&f, PID, 0x1000, "/no/such/prog");
	map_code(&f, PID, 0x2000, "/no/such/libdwell-tracer.so");
	map_code(&f, PID, 0x3000, "/no/such/libc.so");
	map_code(&f, PID, 0x4000, "[vdso]");
	in = sample(&f, PID, within, 3, UNWIND_END);
	in_as_well = sample(&f, PID, elsewhere, 2, UNWIND_END);
	in_clock = sample(&f, PID, by_clock, 3, UNWIND_END);
	through = sample(&f, PID, beyond, 3, UNWIND_END);
	its_clock = sample(&f, PID, clock, 2, UNWIND_END);
	map_code(&f, PID, INJECT_PLACE_FIRST + 0x5000, "//anon");
	put_in = sample(&f, PID, put, 2, UNWIND_END);
	assert_int_equal(sample(&f, PID, within, 3, UNWIND_END), in);
	finish(&f, &r);
	assert_int_equal(in_as_well, in);
	assert_int_equal(in_clock, in);
	assert_int_equal(put_in, in);
	assert_true(is_own(r, in));
	in = recording_stacks(r)[in].parent;
	assert_string_equal(path_of(r, location(r, in)), "/no/such/prog");
	assert_string_equal(path_of(r, location(r, through)), "/no/such/libc.so");
	assert_int_equal(recording_stacks(r)[through].parent, in);
	assert_string_equal(path_of(r, location(r, its_clock)), "[vdso]");
	recording_free(r);
}

static void a_child_has_its_parents_code_until_it_execs(void **state)
{
	static const uint64_t pc = 0x1010;
	struct fixture f;
	struct recording *r;
	uint32_t stacks[3];

	(void)state;
	begin(&f);
	tracker_exec(f.tracker, 1, PID, PID, "parent");
	map_code(&f, PID, 0x1000, "/no/such/a");
	tracker_fork(f.tracker, 6, PID + 1, PID + 1, PID, PID);
	stacks[0] = sample(&f, PID + 1, &pc, 1, UNWIND_END);
	tracker_exec(f.tracker, 7, PID + 1, PID + 1, "child");
	map_code(&f, PID + 1, 0x1000, "/no/such/b");
	stacks[1] = sample(&f, PID + 1, &pc, 1, UNWIND_END);
	stacks[2] = sample(&f, PID, &pc, 1, UNWIND_END);
	tracker_exit(f.tracker, 8, PID + 1, PID + 1);
	tracker_exit_status(f.tracker, PID + 1, 256);
	finish(&f, &r);

	assert_string_equal(path_of(r, location(r, stacks[0])), "/no/such/a");
	assert_string_equal(path_of(r, location(r, stacks[1])), "/no/such/b");
	assert_int_equal(stacks[2], stacks[0]);
	assert_int_equal(recording_n_processes(r), 3);

	const struct model_process *p = recording_process(r, 2);

	assert_int_equal(p->exec_of, 1);
	assert_int_equal(p->parent, 0);
	assert_int_equal(p->end_ns, 8);
	assert_int_equal(p->exit_status, 256);
	assert_string_equal(recording_string(r, p->exe), "/no/such/b");
	assert_string_equal(recording_string(r, recording_process(r, 1)->comm), "parent");
	assert_int_equal(recording_process(r, 1)->end_ns, 7);
	recording_free(r);
}

static void many_short_lives_are_forgotten_one_by_one(void **state)
{
	static const uint64_t pc = 0x1010;
	struct fixture f;
	struct recording *r;

	(void)state;
	begin(&f);
	tracker_exec(f.tracker, 1, 1000000000, 1000000000, "parent");
	map_code(&f, 1000000000, 0x1000, "/no/such/a");
	for (uint32_t i = 1; i <= 5000; i++) {
		uint32_t pid = 1000000000 + i;

		tracker_fork(f.tracker, 6, pid, pid, 1000000000, 1000000000);
		tracker_fork(f.tracker, 6, pid, pid + 100000, pid, pid);
		tracker_exit(f.tracker, 7, pid, pid + 100000);
		tracker_exit(f.tracker, 7, pid, pid);
		sample(&f, pid, &pc, 1, UNWIND_END); /* late, but still known */
	}
	finish(&f, &r);
	assert_int_equal(recording_n_processes(r), 5001);
	assert_int_equal(recording_n_threads(r), 10001);
	recording_free(r);
}

static void only_what_is_to_be_followed_is_kept(void **state)
{
	static const uint64_t pc = 0x1010;
	struct fixture f;
	struct recording *r;
	struct err e = { 0 };

	(void)state;
	begin(&f);
	assert_int_equal(tracker_follow_only(f.tracker, "(", &e), ERR_USAGE);
	assert_int_equal(tracker_follow_only(f.tracker, "^cc1$", &e), 0);
	tracker_exec(f.tracker, 1, PID, PID, "make");
	assert_int_not_equal(sample(&f, PID, &pc, 1, UNWIND_END), 0);
	tracker_fork(f.tracker, 2, PID + 1, PID + 1, PID, PID);
	tracker_exec(f.tracker, 2, PID + 1, PID + 1, "as");
	assert_int_equal(sample(&f, PID + 1, &pc, 1, UNWIND_END), 0);
	tracker_exec(f.tracker, 3, PID + 1, PID + 1, "cc1");
	assert_int_not_equal(sample(&f, PID + 1, &pc, 1, UNWIND_END), 0);
	finish(&f, &r);
	recording_free(r);
}

static void children_can_be_left(void **state)
{
	static const uint64_t pc = 0x1010;
	struct fixture f;
	struct recording *r;

	(void)state;
	begin(&f);
	tracker_leave_children(f.tracker);
	tracker_exec(f.tracker, 1, PID, PID, "sh");
	tracker_fork(f.tracker, 2, PID + 1, PID + 1, PID, PID);
	tracker_fork(f.tracker, 2, PID, PID + 2, PID, PID);
	assert_true(tracker_is_followed(f.tracker, 2, PID, PID + 2));
	assert_int_equal(sample(&f, PID + 1, &pc, 1, UNWIND_END), 0);
	tracker_exec(f.tracker, 3, PID + 1, PID + 1, "ls");
	assert_false(tracker_is_followed(f.tracker, 3, PID + 1, PID + 1));
	finish(&f, &r);
	recording_free(r);
}

static void a_thread_is_followed_until_it_must_be_gone(void **state)
{
	struct fixture f;
	struct recording *r;

	(void)state;
	begin(&f);
	assert_false(tracker_is_followed(f.tracker, 1, (uint32_t)getpid(),
					 (uint32_t)getpid())); /* nobody told */
	tracker_exec(f.tracker, 1, PID, PID, "sh");
	tracker_exit(f.tracker, 5, PID, PID);
	assert_true(tracker_is_followed(f.tracker, 6, PID, PID));
	assert_false(tracker_is_followed(f.tracker, 2000000000, PID, PID));
	finish(&f, &r);
	recording_free(r);
}

static void a_process_is_known_until_its_last_thread_ends(void **state)
{
	struct fixture f;
	struct recording *r;
	bool is_followed = false;

	(void)state;
	begin(&f);
	tracker_leave_children(f.tracker);
	assert_false(tracker_knows(f.tracker, PID, &is_followed)); /* nobody told */
	tracker_exec(f.tracker, 1, PID, PID, "sh");
	tracker_fork(f.tracker, 2, PID, PID + 2, PID, PID);
	tracker_fork(f.tracker, 2, PID + 1, PID + 1, PID, PID);
	tracker_exit(f.tracker, 5, PID, PID);
	assert_true(tracker_knows(f.tracker, PID, &is_followed));
	assert_true(is_followed);
	assert_true(tracker_knows(f.tracker, PID + 1, &is_followed));
	assert_false(is_followed);
	tracker_exit(f.tracker, 6, PID, PID + 2);
	assert_false(tracker_knows(f.tracker, PID, &is_followed));
	finish(&f, &r);
	recording_free(r);
}

static size_t n_own_threads(void)
{
	struct procfs_ids tids = { 0 };
	size_t n;

	assert_int_equal(procfs_tasks(getpid(), &tids, NULL), 0);
	n = tids.ids.n; /* an emulator has one of its own */
	procfs_ids_fini(&tids);
	return n;
}

/* Samples come while its threads are attached to one by one, before it is looked at as a
 * whole. */
static void a_running_process_is_one_however_often_it_is_looked_at(void **state)
{
	struct fixture f;
	struct recording *r;
	uint32_t pid = (uint32_t)getpid(), n_mappings;

	(void)state;
	begin(&f);
	assert_int_equal(tracker_snapshot(f.tracker, 1, pid, NULL), 0);
	assert_int_equal(tracker_process_id(f.tracker, pid), 0);
	assert_int_equal(tracker_thread(f.tracker, 2, pid, pid), 0);
	assert_int_equal(tracker_snapshot(f.tracker, 3, pid, NULL), 0);
	assert_int_equal(tracker_process_id(f.tracker, pid), 0);
	finish(&f, &r);
	assert_int_equal(recording_n_processes(r), 1);
	assert_int_equal(recording_n_threads(r), n_own_threads());
	n_mappings = recording_n_mappings(r);
	recording_free(r);

	begin(&f);
	assert_int_equal(tracker_snapshot(f.tracker, 1, pid, NULL), 0);
	finish(&f, &r);
	assert_int_equal(recording_n_mappings(r), n_mappings);
	recording_free(r);
}

static void a_process_is_in_its_control_group_and_so_are_its_children(void **state)
{
	uint32_t pid = (uint32_t)getpid();
	struct fixture f;
	struct recording *r;
	char path[4096] = "";

	(void)state;
	begin(&f);
	assert_int_equal(tracker_snapshot(f.tracker, 1, pid, NULL), 0);
	tracker_fork(f.tracker, 2, PID, PID, pid, pid);
	tracker_exec(f.tracker, 3, PID, PID, "gone"); /* before it could be looked for */
	finish(&f, &r);
	cgroup_names_of_process(getpid(), path, sizeof(path));
	assert_int_equal(recording_n_processes(r), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(recording_string(r, recording_process(r, i)->cgroup),
				    path);
	recording_free(r);
}

static void no_stack_is_deeper_than_the_limit(void **state)
{
	static const uint64_t pcs[] = { 0x1010, 0x1020, 0x1030 };
	struct fixture f;
	struct recording *r;

	(void)state;
	begin(&f);
	tracker_limit_depth(f.tracker, 2);
	tracker_exec(f.tracker, 1, PID, PID, "prog");
	map_code(&f, PID, 0x1000, "/no/such/x");
	sample(&f, PID, pcs, 3, UNWIND_END);
	assert_int_equal(tracker_stops(f.tracker)[UNWIND_LIMIT], 1);
	finish(&f, &r);
	assert_int_equal(recording_n_stacks(r), 1 + 3); /* [truncated] and two */
	recording_free(r);
}

static void a_draft_is_nothing_until_it_is_written(void **state)
{
	static const uint64_t pc = 0x1010;
	const struct tracker_sample s = { .time_ns = 9,
					  .pid = PID,
					  .tid = PID,
					  .user_pcs = &pc,
					  .n_user = 1,
					  .weight = 30,
					  .count = 3 };
	struct tracker_draft kept, dropped;
	struct fixture f;
	struct recording *r;
	struct sample_block b = { 0 };

	(void)state;
	begin(&f);
	tracker_exec(f.tracker, 1, PID, PID, "sh");
	tracker_draft(f.tracker, &s, &kept);
	tracker_draft(f.tracker, &s, &dropped);
	assert_int_equal(tracker_stops(f.tracker)[UNWIND_END], 0);
	tracker_exec(f.tracker, 10, PID, PID, "ls"); /* it stays the shell's */
	tracker_write(f.tracker, &kept);
	assert_int_equal(tracker_stops(f.tracker)[UNWIND_END], 1);
	finish(&f, &r);
	assert_int_equal(recording_n_sample_blocks(r), 1);
	assert_int_equal(recording_read_samples(r, 0, SAMPLE_ALL, &b, NULL), 0);
	assert_int_equal(b.n, 1);
	assert_int_equal(b.weight[0], 30);
	assert_int_equal(b.thread[0], 0);
	sample_block_fini(&b);
	recording_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_places_in_images_under_their_callers),
		cmocka_unit_test(the_stack_of_a_call_ends_behind_it),
		cmocka_unit_test(our_own_code_is_told_apart_from_the_program),
		cmocka_unit_test(a_child_has_its_parents_code_until_it_execs),
		cmocka_unit_test(many_short_lives_are_forgotten_one_by_one),
		cmocka_unit_test(only_what_is_to_be_followed_is_kept),
		cmocka_unit_test(children_can_be_left),
		cmocka_unit_test(a_thread_is_followed_until_it_must_be_gone),
		cmocka_unit_test(a_process_is_known_until_its_last_thread_ends),
		cmocka_unit_test(a_running_process_is_one_however_often_it_is_looked_at),
		cmocka_unit_test(
			a_process_is_in_its_control_group_and_so_are_its_children),
		cmocka_unit_test(no_stack_is_deeper_than_the_limit),
		cmocka_unit_test(a_draft_is_nothing_until_it_is_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
