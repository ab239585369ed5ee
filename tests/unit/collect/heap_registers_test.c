/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_registers.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/inject_stop.h"
#include "host/procfs.h"

/* In place of what has threads stand. */
#define SOON_NS 20000000

struct inject_stop {
	int is_standing;
};

static struct inject_stop the_stop;
static unsigned n_late, n_tries;
static enum err_code refusal;

struct inject_stop *inject_stop_begin(pid_t pid, uint64_t limit_ns, struct err *e)
{
	(void)pid;
	assert_in_range(limit_ns, 1, SOON_NS);
	if (n_tries++ < n_late) {
		(void)!err_set(e, refusal, "late");
		return NULL;
	}
	the_stop.is_standing = 1;
	return &the_stop;
}

void inject_stop_each(const struct inject_stop *s, inject_stop_registers_fn *fn,
		      void *ctx)
{
	static const uint64_t registers[] = { 5, 6 };

	assert_true(s->is_standing);
	fn(ctx, registers, 2);
	fn(ctx, registers, 1);
}

uint64_t inject_stop_end(struct inject_stop *s)
{
	if (s)
		s->is_standing = 0;
	return 0;
}

static void *wait_for_ever(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static pid_t make_child(bool has_others)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };
	pid_t pid = fork();
	pthread_t thread;

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (has_others && pthread_create(&thread, NULL, wait_for_ever, NULL) != 0)
			_exit(1);
		wait_for_ever(NULL);
	}
	while (has_others && tids.ids.n < 2) {
		usleep(1000);
		assert_int_equal(procfs_tasks(pid, &tids, NULL), 0);
	}
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Whoever asks does something else in between. */
static void who_is_late_is_tried_again_and_not_waited_for(void **state)
{
	struct heap_registers r = { 0 };
	pid_t pid = make_child(true);

	(void)state;
	n_tries = 0;
	n_late = 3;
	refusal = ERR_LIMIT;
	for (unsigned n = 1; n <= n_late; n++) {
		r.until_ns = UINT64_MAX;
		assert_false(heap_registers_read(&r, pid, pid));
		assert_int_equal(n_tries, n);
		assert_int_equal(r.words.n, 0);
	}
	assert_true(heap_registers_read(&r, pid, pid));
	assert_int_equal(r.words.n, 3);
	assert_int_equal(r.words.at[1], 6);
	assert_false(the_stop.is_standing);
	heap_registers_fini(&r);
	end_child(pid);
}

static void who_does_not_stand_in_time_or_may_not_is_left(void **state)
{
	struct heap_registers r = { 0 };
	pid_t pid = make_child(true);

	(void)state;
	n_tries = 0;
	n_late = 2;
	refusal = ERR_LIMIT;
	r.until_ns = 1; /* long ago */
	assert_true(heap_registers_read(&r, pid, pid));
	refusal = ERR_OS;
	r.until_ns = 0;
	assert_true(heap_registers_read(&r, pid, pid));
	assert_int_equal(r.words.n, 0);
	heap_registers_fini(&r);
	end_child(pid);
}

static void who_is_alone_is_not_stopped(void **state)
{
	struct heap_registers r = { 0 };
	pid_t pid = make_child(false);

	(void)state;
	n_tries = n_late = 0;
	assert_true(heap_registers_read(&r, pid, pid));
	assert_int_equal(n_tries, 0);
	heap_registers_fini(&r);
	end_child(pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_late_is_tried_again_and_not_waited_for),
		cmocka_unit_test(who_does_not_stand_in_time_or_may_not_is_left),
		cmocka_unit_test(who_is_alone_is_not_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
