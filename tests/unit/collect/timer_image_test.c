/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/timer_image.h"

#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "inject/ring.h"

/* No running process has it. */
#define PID 0x7ffffff0

struct fixture {
	char directory[40];
	struct writer *writer;
	struct map known;
	struct timer_totals totals;
};

/* An image as the recorder has it, and its ring as the target does. */
struct both {
	struct ring target;
	struct timer_image *image;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	char path[60];

	strcpy(f->directory, "/tmp/dwell-image-XXXXXX");
	if (!mkdtemp(f->directory))
		return -1;
	snprintf(path, sizeof(path), "%s/x.dwell", f->directory);
	if (writer_create(path, &(struct writer_options){ 0 }, &f->writer, NULL) < 0)
		return -1;
	f->totals.writer = f->writer;
	f->totals.tracker = tracker_new(f->writer);
	f->totals.known = &f->known;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char command[100];

	tracker_free(f->totals.tracker);
	writer_free(f->writer);
	map_fini(&f->known);
	snprintf(command, sizeof(command), "rm -r %s", f->directory);
	free(f);
	return system(command);
}

static void tell_thread(struct both *b, enum wire_sampler_kind kind, uint32_t tid)
{
	struct wire_sampler_thread t = { .tid = tid };

	assert_true(ring_write(&b->target, kind, &t, sizeof(t), NULL, 0));
}

static void tell_name(struct both *b, uint32_t tid, const char *name)
{
	struct wire_sampler_thread t = { .tid = tid };

	snprintf(t.comm, sizeof(t.comm), "%s", name);
	assert_true(ring_write(&b->target, WIRE_SAMPLER_THREAD, &t, sizeof(t), NULL, 0));
}

static void sample(struct both *b, uint32_t tid)
{
	static const uint8_t exact_0x1000[] = { 0x81, 0x80, 0x01 };
	struct wire_sampler_sample s = {
		.tid = tid, .count = 1, .n_frames = 1, .slot = tid & 15
	};

	assert_true(ring_write(&b->target, WIRE_SAMPLER_SAMPLE, &s, sizeof(s),
			       exact_0x1000, sizeof(exact_0x1000)));
}

static void start_from(struct fixture *f, struct both *b, uint32_t origin, pid_t pid,
		       const char *program)
{
	struct wire_sampler_start s = { .pid = (uint32_t)pid, .origin = origin };
	struct timer_ring *ring;
	char command[100], name[100];
	int directory;
	FILE *list;

	assert_true(ring_create(&b->target, f->directory, WIRE_SAMPLER_RING_MIN, pid));
	assert_true(ring_write(&b->target, WIRE_SAMPLER_START, &s, sizeof(s), program,
			       strlen(program)));
	b->target.header->magic = WIRE_SAMPLER_MAGIC;
	snprintf(command, sizeof(command), "cd %s; ls ring.*", f->directory);
	list = popen(command, "r");
	assert_non_null(fgets(name, sizeof(name), list));
	pclose(list);
	name[strcspn(name, "\n")] = 0;
	directory = open(f->directory, O_DIRECTORY);
	assert_int_equal(timer_ring_open(directory, name, geteuid(), &ring, NULL), 0);
	unlinkat(directory, name, 0);
	close(directory);
	b->image = timer_image_new(ring, NULL, &f->totals);
}

static void start_as(struct fixture *f, struct both *b, pid_t pid, const char *program)
{
	start_from(f, b, WIRE_SAMPLER_EXEC, pid, program);
}

static void start(struct fixture *f, struct both *b, const char *program)
{
	start_as(f, b, PID, program);
}

static void stop(struct both *b)
{
	timer_image_free(b->image);
	ring_unmap(&b->target);
}

static void threads_that_end_without_a_sample_are_counted(void **state)
{
	struct fixture *f = *state;
	struct both b;

	start(f, &b, "/bin/x");
	sample(&b, PID);
	for (uint32_t tid = PID + 1; tid <= PID + 4; tid++)
		tell_thread(&b, WIRE_SAMPLER_THREAD, tid);
	sample(&b, PID + 1);
	tell_thread(&b, WIRE_SAMPLER_LEAVE, PID + 1);
	tell_thread(&b, WIRE_SAMPLER_LEAVE, PID + 2);
	timer_image_drain(b.image, 0, false);
	assert_int_equal(f->totals.n_unsampled, 1);
	sample(&b, PID + 3); /* and goes with its process, as does the fourth */
	timer_image_end(b.image, 1, true);
	assert_int_equal(f->totals.n_unsampled, 2);
	assert_int_equal(f->totals.sampled, 3);
	stop(&b);
}

static void take_nothing(struct timer_image *m, const struct timer_record *r)
{
	(void)m;
	(void)r;
}

static void end_nothing(struct timer_image *m, uint64_t now_ns)
{
	(void)m;
	(void)now_ns;
}

/* From now on it is a tracer's. */
static void trace(struct fixture *f)
{
	static const struct timer_tracing nothing = { .take = take_nothing,
						      .end = end_nothing };

	f->totals.tracing = &nothing;
}

static void assert_called(struct fixture *f, struct both *b, uint32_t tid,
			  const char *name)
{
	uint32_t id = late_image_thread(timer_image_late(b->image), 0, tid);

	assert_int_equal(writer_thread_get(f->writer, id)->name,
			 writer_string(f->writer, name));
}

static void threads_of_a_tracer_are_called_as_they_say(void **state)
{
	struct fixture *f = *state;
	struct both b;

	trace(f);
	start(f, &b, "/bin/x");
	tell_name(&b, PID + 1, "worker");
	timer_image_drain(b.image, 0, false);
	assert_called(f, &b, PID + 1, "worker");
	tell_name(&b, PID + 1, "writer"); /* another one, which got its id */
	timer_image_drain(b.image, 0, false);
	assert_called(f, &b, PID + 1, "writer");
	stop(&b);
}

static void a_name_that_the_kernel_told_is_newer(void **state)
{
	struct fixture *f = *state;
	struct both b;

	trace(f);
	start(f, &b, "/bin/x");
	timer_image_drain(b.image, 0, false);
	tracker_comm(f->totals.tracker, 0, PID, PID + 1, "newer");
	tell_name(&b, PID + 1, "older");
	timer_image_drain(b.image, 0, false);
	assert_called(f, &b, PID + 1, "newer");
	stop(&b);
}

/* The thread that runs the test is not its process' first one. */
static void *rename_threads(void *arg)
{
	struct fixture *f = *(void **)arg;
	uint32_t tid = (uint32_t)syscall(SYS_gettid);
	char exe[200] = "";
	struct both b;

	trace(f);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	start_as(f, &b, getpid(), exe);
	tell_name(&b, tid, "first");
	timer_image_drain(b.image, 1, false);
	assert_called(f, &b, tid, "first");
	prctl(PR_SET_NAME, "second");
	assert_true(timer_image_check(b.image, 1000000000));
	assert_true(timer_image_check(b.image, 2000000000));
	assert_called(f, &b, tid, "second");
	prctl(PR_SET_NAME, "third"); /* not so soon again, but at the end */
	tell_name(&b, tid + 1, "another");
	timer_image_drain(b.image, 2010000000, false);
	assert_true(timer_image_check(b.image, 2020000000));
	assert_called(f, &b, tid, "second");
	timer_image_end(b.image, 2020000001, false);
	assert_called(f, &b, tid, "third");
	stop(&b);
	return NULL;
}

static void threads_that_are_named_later_are_asked_again(void **state)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, rename_threads, state), 0);
	pthread_join(thread, NULL);
}

static void threads_that_outlive_the_recording_are_not(void **state)
{
	struct fixture *f = *state;
	struct both b;

	start(f, &b, "/bin/x");
	tell_thread(&b, WIRE_SAMPLER_THREAD, PID + 1);
	timer_image_end(b.image, 1, false);
	assert_int_equal(f->totals.n_unsampled, 0);
	stop(&b);
}

static void an_exec_ends_all_threads_but_the_main_one(void **state)
{
	struct fixture *f = *state;
	struct both old, new;

	start(f, &old, "/bin/x");
	sample(&old, PID);
	tell_thread(&old, WIRE_SAMPLER_THREAD, PID + 1);
	start(f, &new, "/bin/y");
	timer_image_replace(old.image, new.image);
	assert_int_equal(f->totals.n_unsampled, 1);
	timer_image_end(new.image, 1, true);
	assert_int_equal(f->totals.n_unsampled, 1); /* it was sampled before */
	stop(&old);
	stop(&new);
}

static void a_child_that_execs_was_forked_once(void **state)
{
	struct fixture *f = *state;
	struct both parent, child, next;
	uint32_t id;

	start_as(f, &parent, getppid(), "/bin/sh");
	timer_image_drain(parent.image, 0, false);
	start_from(f, &child, WIRE_SAMPLER_FORK, PID, "/bin/sh");
	start(f, &next, "/bin/y");
	timer_image_replace(child.image, next.image);
	timer_image_drain(next.image, 0, false);

	id = tracker_process_id(f->totals.tracker, PID);
	assert_int_equal(id, 2); /* the shell, its copy, the program */
	assert_int_equal(writer_process_get(f->writer, id)->exec_of, 1);
	timer_image_end(next.image, 1, true);
	timer_image_end(parent.image, 1, true);
	stop(&parent);
	stop(&child);
	stop(&next);
}

static void a_process_that_nobody_has_waited_for_has_exited(void **state)
{
	struct fixture *f = *state;
	struct both child, mine, none;
	siginfo_t info;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	start_as(f, &child, pid, "/bin/x");
	start_as(f, &mine, getpid(), "/bin/x");
	start(f, &none, "/bin/x");
	assert_true(timer_image_has_exited(child.image));
	assert_false(timer_image_has_exited(mine.image));
	assert_true(timer_image_has_exited(none.image));
	waitpid(pid, NULL, 0);
	stop(&child);
	stop(&mine);
	stop(&none);
}

int main(void)
{
#define WITH_TRACKER(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		WITH_TRACKER(threads_that_end_without_a_sample_are_counted),
		WITH_TRACKER(threads_of_a_tracer_are_called_as_they_say),
		WITH_TRACKER(a_name_that_the_kernel_told_is_newer),
		WITH_TRACKER(threads_that_are_named_later_are_asked_again),
		WITH_TRACKER(threads_that_outlive_the_recording_are_not),
		WITH_TRACKER(an_exec_ends_all_threads_but_the_main_one),
		WITH_TRACKER(a_child_that_execs_was_forked_once),
		WITH_TRACKER(a_process_that_nobody_has_waited_for_has_exited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
