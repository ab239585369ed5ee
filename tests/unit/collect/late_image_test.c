/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/late_image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* No running process has it. */
#define PID 0x7ffffff0u

struct fixture {
	char path[64];
	struct writer *writer;
	struct tracker *tracker;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(f->path, sizeof(f->path), "/tmp/late_image_test.%d.dwell", getpid());
	if (writer_create(f->path, &(struct writer_options){ 0 }, &f->writer, NULL) < 0)
		return -1;
	f->tracker = tracker_new(f->writer);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	tracker_free(f->tracker);
	writer_free(f->writer);
	unlink(f->path);
	free(f);
	return 0;
}

static struct tracker_mmap code(const char *path)
{
	return (struct tracker_mmap){
		.start = 0x1000, .end = 0x2000, .path = path, .inode = 1, .is_exec = true
	};
}

/* The kernel's account, at its own times. */
static void run(struct fixture *f, uint64_t time_ns, const char *program)
{
	struct tracker_mmap map = code(program);

	tracker_set_teller(f->tracker, 0);
	tracker_exec(f->tracker, time_ns, PID, PID, program);
	tracker_mmap(f->tracker, time_ns + 1, PID, &map);
	tracker_set_teller(f->tracker, 1);
}

static struct late_image *tell(struct fixture *f, uint64_t time_ns, const char *program)
{
	struct tracker_mmap map = code(program);
	struct late_image *m;

	tracker_exec(f->tracker, time_ns, PID, PID, program);
	m = late_image_new(f->tracker, time_ns, PID, false, NULL);
	late_image_mmap(m, time_ns, &map);
	return m;
}

static uint32_t stack(struct late_image *m)
{
	static const uint64_t pc = 0x1234;

	return late_image_stack(m, &(struct tracker_sample){ .time_ns = 50,
							     .pid = PID,
							     .tid = PID,
							     .user_pcs = &pc,
							     .n_user = 1,
							     .stop = UNWIND_END });
}

static void one_that_is_gone_keeps_its_process_thread_and_code(void **state)
{
	struct fixture *f = *state;
	struct late_image *a, *b;
	uint32_t thread;

	run(f, 10, "/bin/a");
	thread = tracker_thread(f->tracker, 10, PID, PID);
	run(f, 20, "/bin/b");
	a = tell(f, 12, "/bin/a");
	assert_false(late_image_is_current(a));
	assert_int_equal(late_image_thread(a, 12, PID), thread);
	b = tell(f, 22, "/bin/b");
	assert_true(late_image_is_current(b));
	assert_int_equal(late_image_process(b), tracker_process_id(f->tracker, PID));
	assert_int_not_equal(late_image_process(a), late_image_process(b));
	assert_int_not_equal(late_image_thread(b, 22, PID), thread);
	/* The same address is different code. */
	assert_int_not_equal(stack(a), stack(b));
	/* What is told by nobody else is a thread of that process all the same. */
	thread = late_image_thread(a, 13, PID + 1);
	assert_int_equal(writer_thread_get(f->writer, thread)->process,
			 late_image_process(a));
	assert_int_equal(late_image_thread(a, 14, PID + 1), thread);
	late_image_free(a);
	late_image_free(b);
}

static void a_fork_has_the_code_of_its_parent(void **state)
{
	struct fixture *f = *state;
	struct late_image *parent, *child;

	run(f, 10, "/bin/a");
	parent = tell(f, 12, "/bin/a");
	run(f, 20, "/bin/b");
	tracker_fork(f->tracker, 15, PID + 1, PID + 1, PID, PID);
	child = late_image_new(f->tracker, 15, PID + 1, true, parent);
	assert_int_equal(stack(child), stack(parent));
	late_image_free(child);
	child = late_image_new(f->tracker, 15, PID + 1, false, parent);
	assert_int_not_equal(stack(child), stack(parent));
	late_image_free(child);
	late_image_free(parent);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			one_that_is_gone_keeps_its_process_thread_and_code, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(a_fork_has_the_code_of_its_parent, set_up,
						tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
