/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_stop.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "collect/count_late.h"
#include "host/procfs.h"
#include "memory_of_others.h"

/* A process whose first thread waits, and whose second one forbids a call to all when it
 * is told to. */
struct fixture {
	pid_t pid;
	int tell[2], told[2];
};

static void *forbid(void *fixture)
{
	const struct fixture *f = fixture;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpriority, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(code[0]), code };
	char c;

	if (read(f->tell[0], &c, 1) != 1)
		_exit(1);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	c = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
		    &program) == 0;
	if (write(f->told[1], &c, 1) != 1)
		_exit(1);
	for (;;)
		pause();
	return NULL;
}

static void run_child(struct fixture *f)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pthread_create(&thread, NULL, forbid, f) != 0 ||
	    write(f->told[1], "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Until both threads are there, and the first one waits. */
static void set_up(struct fixture *f)
{
	struct procfs_stat stat = { 0 };
	char c;

	assert_int_equal(pipe(f->tell), 0);
	assert_int_equal(pipe(f->told), 0);
	f->pid = fork();
	if (f->pid == 0)
		run_child(f);
	assert_int_equal(read(f->told[0], &c, 1), 1);
	while (procfs_stat(f->pid, &stat, NULL) == 0 && stat.state != 'S')
		usleep(1000);
}

static void tear_down(struct fixture *f)
{
	kill(f->pid, SIGKILL);
	waitpid(f->pid, NULL, 0);
	for (unsigned i = 0; i < 2; i++) {
		close(f->tell[i]);
		close(f->told[i]);
	}
}

static bool read_own(void *ctx, uint64_t at, void *to, size_t bytes)
{
	struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)at, bytes };

	(void)ctx;
	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)bytes;
}

#define SUSPEND_SECCOMP (1 << 21)

/* Not by everybody, in every kernel, in every container. */
static bool filters_can_be_lifted(void)
{
	pid_t pid = fork();
	bool can;

	if (pid == 0)
		for (;;)
			pause();
	can = ptrace(PTRACE_SEIZE, pid, 0, SUSPEND_SECCOMP) == 0;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return can;
}

/* A child has the same. */
static uint64_t find_site(void)
{
	const struct inject_memory memory = { .read = read_own };
	own(buf_fini) struct buf maps = { 0 };
	uint64_t site;

	assert_int_equal(procfs_read("/proc/self/maps", 1 << 20, &maps, NULL), 0);
	assert_int_equal(
		inject_stop_site(&memory, buf_str(&maps), maps.size, &site, NULL), 0);
	return site;
}

static void a_filter_for_all_does_not_meet_what_is_done_for_us(void **state)
{
	struct fixture f;
	struct inject_stop *s;
	uint64_t site;
	int32_t tid_at;
	char c = 0;

	(void)state;
	if (!filters_can_be_lifted() || !memory_of_others_is_there())
		skip();
	site = find_site();
	set_up(&f);
	s = inject_stop_begin_one(f.pid, 0, NULL);
	assert_non_null(s);
	assert_int_equal(inject_stop_take(s, &tid_at, NULL), 0);
	assert_int_equal(write(f.tell[1], &c, 1), 1);
	assert_int_equal(read(f.told[0], &c, 1), 1);
	assert_int_equal(c, 1);
	assert_in_range(inject_stop_call(s, site, SYS_getpriority, PRIO_PROCESS, 0, 0, 0),
			1, 40);
	inject_stop_end(s);
	assert_int_equal(waitpid(f.pid, NULL, WNOHANG), 0);
	tear_down(&f);
}

#define MASKS 0x1f80

/* Of each thread and of the one that is taken: it is what the kernel has when all go on.
 */
static void masks_and_registers_of_arithmetic_are_changed_for_good(void **state)
{
	struct inject_stop_thread t;
	struct inject_stop *s;
	struct fixture f;
	int32_t tid_at;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	set_up(&f);
	for (unsigned round = 0; round < 2; round++) {
		s = inject_stop_begin(f.pid, 0, NULL);
		assert_non_null(s);
		assert_int_equal(inject_stop_n(s), 2);
		for (size_t i = 0; i < 2 && round == 0; i++) {
			if (i == 1)
				assert_int_equal(inject_stop_take(s, &tid_at, NULL), 0);
			assert_true(inject_stop_get(s, 0, &t));
			assert_int_equal(t.mxcsr & MASKS, i ? 0x1d80 : 0x1f80);
			t.mxcsr -= 0x200;
			t.control = (uint16_t)(0x37b - i);
			t.mask |= 1 << (SIGUSR1 - 1 + i);
			inject_stop_set(s, 0, &t);
		}
		assert_true(inject_stop_get(s, 0, &t));
		assert_int_equal(t.mxcsr & MASKS, 0x1b80);
		assert_int_equal(t.control, 0x37a);
		assert_int_equal(t.mask, 3 << (SIGUSR1 - 1));
		assert_true(inject_stop_get(s, 1, &t));
		assert_int_equal(t.mxcsr & MASKS, 0x1f80);
		assert_int_equal(inject_stop_tid(s, 1, 0), t.tid);
		inject_stop_end(s);
	}
	tear_down(&f);
}

/* Code that a thread is to leave, and from which it returns every now and then, or never.
 */
#define WALKED __attribute__((section("walked"), noinline))

extern const char __start_walked[], __stop_walked[];
static volatile unsigned n_turns;

WALKED static void turn(void)
{
	for (unsigned i = 0; i < 100; i++)
		n_turns++;
}

WALKED static void turn_for_ever(void)
{
	for (;;)
		n_turns++;
}

static void do_nothing(int signal)
{
	(void)signal;
}

static bool is_caught(pid_t pid, int signal)
{
	char text[PROCFS_STATUS_BYTES], *found;

	assert_int_equal(procfs_status(pid, text, NULL), 0);
	found = strstr(text, "\nSigCgt:\t");
	assert_non_null(found);
	return strtoull(found + 9, NULL, 16) >> (signal - 1) & 1;
}

/* A process that executes it, and blocks all signals; it has none pending but one. */
static pid_t walk(void (*code)(void))
{
	pid_t pid = fork();
	sigset_t all;

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTRAP, do_nothing);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	kill(getpid(), SIGUSR1);
	for (;;)
		code();
}

static size_t lead_out(pid_t pid, bool is_to_succeed)
{
	const uint64_t lo = (uintptr_t)__start_walked, hi = (uintptr_t)__stop_walked;
	struct inject_stop *s = inject_stop_begin(pid, 0, NULL);
	struct inject_stop_thread t;
	bool was_within;

	assert_non_null(s);
	assert_true(inject_stop_get(s, 0, &t));
	was_within = t.pc >= lo && t.pc < hi;
	assert_int_equal(inject_stop_lead_out(s, lo, hi), is_to_succeed || !was_within);
	assert_true(inject_stop_get(s, 0, &t));
	assert_int_equal(t.pc >= lo && t.pc < hi, was_within && !is_to_succeed);
	inject_stop_end(s);
	return was_within;
}

static bool is_blocked(pid_t pid, int signal)
{
	struct inject_stop *s = inject_stop_begin(pid, 0, NULL);
	struct inject_stop_thread t = { 0 };

	assert_non_null(s);
	assert_true(inject_stop_get(s, 0, &t));
	inject_stop_end(s);
	return t.mask >> (signal - 1) & 1;
}

/* Until it has been found within so often.  Who is made to stand over and over hardly
 * runs where others want its CPU, so that tries are no measure: its own time is. */
#define WALKED_MAX_NS 5000000000

static void lead_out_often(pid_t pid, bool is_to_succeed, size_t n)
{
	size_t n_within = 0;

	while (n_within < n) {
		struct procfs_stat stat;

		usleep(1000);
		assert_int_equal(procfs_stat(pid, &stat, NULL), 0);
		assert_true(stat.user_ns + stat.system_ns < WALKED_MAX_NS);
		n_within += lead_out(pid, is_to_succeed);
	}
}

static void who_is_in_code_is_led_out_of_it_by_as_much_as_that_takes(void **state)
{
	pid_t pid;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	pid = walk(turn);
	lead_out_often(pid, true, 10);
	assert_true(is_blocked(pid, SIGTRAP));
	assert_true(is_caught(pid, SIGTRAP));
	assert_true(is_blocked(pid, SIGUSR1));
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void who_never_leaves_is_left_where_it_is(void **state)
{
	pid_t pid;

	(void)state;
	if (!memory_of_others_is_there())
		skip();
	pid = walk(turn_for_ever);
	lead_out_often(pid, false, 1);
	assert_true(is_blocked(pid, SIGTRAP));
	assert_true(is_caught(pid, SIGTRAP));
	assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* It has this CPU as long as we do not. */
static void who_has_no_cpu_is_waited_for_as_long_as_may_be(void **state)
{
	struct err e = { 0 };
	cpu_set_t before, one;
	pid_t pid;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	pid = fork();
	if (!pid)
		for (;;)
			;
	usleep(1000); /* it is there, and executes that */
	while (e.code != ERR_LIMIT) {
		struct procfs_stat stat;

		e = (struct err){ 0 };
		inject_stop_end(inject_stop_begin(pid, 1, &e));
		assert_int_equal(procfs_stat(pid, &stat, NULL), 0);
		assert_true(stat.user_ns < WALKED_MAX_NS);
	}
	count_late_await();
	assert_false(count_late_are_any());
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	sched_setaffinity(0, sizeof(before), &before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_filter_for_all_does_not_meet_what_is_done_for_us),
		cmocka_unit_test(
			who_is_in_code_is_led_out_of_it_by_as_much_as_that_takes),
		cmocka_unit_test(who_never_leaves_is_left_where_it_is),
		cmocka_unit_test(who_has_no_cpu_is_waited_for_as_long_as_may_be),
		cmocka_unit_test(masks_and_registers_of_arithmetic_are_changed_for_good),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
