/* SPDX-License-Identifier: Apache-2.0
 *
 * Recorders that are killed before each of their calls in turn. */
#include "collect/count_attach.h"

#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/vec.h"
#include "collect/count_detach.h"
#include "count/context.h"
#include "host/procfs.h"
#include "wire/count_control.h"

#define N_THREADS     2
#define TRIES	      20000 /* of a millisecond */
#define NAP_NS	      1000000
#define AT_A_TIME     8
#define MOMENTS_LEAST 30
#define ENGINE_AT     0x470000000000ULL
#define ENGINE_MAX    0x100000000ULL
#define SIGNAL_BIT(n) (1ULL << ((n)-1))
#define NOWHERE	      16
#define BLOCKED	      SIGNAL_BIT(SIGUSR2)
#define STACK_BYTES   0x10000

static size_t n_threads = N_THREADS; /* of the program, at most as many */

/* What it did, and is to do. */
struct seen {
	uint64_t turns[N_THREADS], handled;
	void (*calls)(void); /* of one that does nothing else */
};

static struct seen *seen; /* by all of them */

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

static uint64_t blocked_by(pid_t pid, pid_t tid)
{
	char path[64], text[PROCFS_STATUS_BYTES];
	uint64_t mask = 0;
	const char *at;
	size_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", pid, tid);
	f = fopen(path, "r");
	if (!f)
		return 0;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	at = strstr(text, "\nSigBlk:");
	return at && sscanf(at, "\nSigBlk: %" SCNx64, &mask) == 1 ? mask : 0;
}

/* The recorder, from its calls of ptrace(): in which of them it is killed, and which
 * threads of the program's have registers and signals as they are not to stay. */

static long calls_left = -1; /* -1: none of ours is killed */
static bool is_coming_again; /* in which nothing is exposed */
static bool is_spoiled;	     /* the engine is begun where nothing is */

static struct led {
	pid_t tid;
	bool is_in_engine, is_at_call;
} all_led[N_THREADS];

static struct led *led_of(pid_t tid)
{
	size_t i = 0;

	while (i + 1 < N_THREADS && all_led[i].tid && all_led[i].tid != tid)
		i++;
	all_led[i].tid = tid;
	return &all_led[i];
}

static bool has_own_mask(pid_t tid)
{
	return blocked_by(tid, tid) == BLOCKED;
}

/* A thread makes calls for the recorder, as docs/transparency.md has it: with signals
 * blocked that the program has not, until it has registers of the program's again. */
static bool is_exposed(void)
{
	for (size_t i = 0; i < N_THREADS && all_led[i].tid && !is_coming_again; i++)
		if (all_led[i].is_at_call ||
		    (!all_led[i].is_in_engine && !has_own_mask(all_led[i].tid)))
			return true;
	return false;
}

static void note_call(int request, pid_t tid, const void *data)
{
	const struct user_regs_struct *r = data;
	struct led *led = led_of(tid);

	if (request != PTRACE_SETREGS)
		return;
	led->is_in_engine = r->rip - ENGINE_AT < ENGINE_MAX;
	led->is_at_call = !led->is_in_engine && !has_own_mask(tid);
}

static long set_spoiled(pid_t tid, const struct user_regs_struct *regs)
{
	struct user_regs_struct r = *regs;

	if (r.rcx == COUNT_CONTROL_MAGIC) {
		r.rip = NOWHERE;
		is_spoiled = false;
	}
	return syscall(SYS_ptrace, PTRACE_SETREGS, tid, NULL, &r);
}

/* A thread is taken out of translated code where that enters the engine next, which it
 * has no translation for yet, and the recorder is killed when it has come as far as that.
 */
static const struct count_control *told; /* NULL: by no means */
static bool is_astray;

static void meet_something_new(void)
{
	__asm__ volatile("");
}

static bool enters_engine(pid_t tid, uint64_t ip)
{
	/* why, into the context */
	static const uint8_t store[] = { 0x65, 0xc7, 0x04, 0x25, CONTEXT_EXIT };
	uint8_t code[sizeof(store)];
	struct iovec here = { code, sizeof(code) }, there = { (void *)ip, sizeof(code) };

	return process_vm_readv(tid, &here, 1, &there, 1, 0) == sizeof(code) &&
	       memcmp(code, store, sizeof(code)) == 0;
}

static void lead_astray(pid_t tid)
{
	struct user_regs_struct r;
	int status;

	seen->calls = meet_something_new;
	do {
		syscall(SYS_ptrace, PTRACE_SINGLESTEP, tid, NULL, NULL);
		if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status))
			_exit(1);
		syscall(SYS_ptrace, PTRACE_GETREGS, tid, NULL, &r);
	} while (!enters_engine(tid, r.rip));
	is_astray = true;
}

static bool is_parked(pid_t tid, const struct user_regs_struct *r,
		      enum count_control_park how)
{
	uint64_t is = 0;
	struct iovec here = { &is, sizeof(is) },
		     there = { (char *)r->gs_base + told->leave_off +
				       offsetof(struct count_control_leave, parked),
			       sizeof(is) };

	process_vm_readv(tid, &here, 1, &there, 1, 0);
	return is == how;
}

/* Its signal waits until it has the ones again that it was to have. */
static long get_astray(pid_t tid, struct user_regs_struct *ret)
{
	long rc;

	if (!is_astray)
		lead_astray(tid);
	rc = syscall(SYS_ptrace, PTRACE_GETREGS, tid, NULL, ret);
	if (rc == 0 && is_parked(tid, ret, COUNT_PARK_NOT_YET)) {
		kill(tid, SIGUSR1);
		raise(SIGKILL);
	}
	return rc;
}

long ptrace(enum __ptrace_request request, ...)
{
	va_list args;
	pid_t tid;
	void *addr, *data;

	va_start(args, request);
	tid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (calls_left >= 0 && !is_exposed() && !calls_left--)
		raise(SIGKILL);
	note_call((int)request, tid, data);
	if (told && request == PTRACE_GETREGS)
		return get_astray(tid, data);
	if (is_spoiled && request == PTRACE_SETREGS)
		return set_spoiled(tid, data);
	return syscall(SYS_ptrace, request, tid, addr, data);
}

/* The program. */

static __thread uint8_t signal_stack[STACK_BYTES];

/* Where it is to be. */
static void handle(int signal)
{
	uint64_t at = (uint64_t)__builtin_frame_address(0) - (uint64_t)signal_stack;

	(void)signal;
	if (at < STACK_BYTES)
		__atomic_fetch_add(&seen->handled, 1, __ATOMIC_RELAXED);
}

/* Whether registers stay that the kernel and the engine do not touch. */
static void spin_with_registers(void)
{
	static const uint64_t pattern[4] = { 0x0123456789abcdef, ~0ULL, 42,
					     0xf0e1d2c3b4a59687 };
	uint64_t kept[4] = { 0 };

	if (!__builtin_cpu_supports("avx"))
		return;
	__asm__ volatile("vmovdqu %[p], %%ymm9\n"
			 "1:\tdec %[n]\n\tjnz 1b\n\t"
			 "vmovdqu %%ymm9, %[s]\n\tvzeroupper"
			 : [s] "=m"(kept), [n] "+r"((uint64_t){ 300000 })
			 : [p] "m"(pattern)
			 : "xmm9", "cc");
	if (memcmp(kept, pattern, sizeof(kept)) != 0)
		_exit(2);
}

/* Computes, and waits. */
static void *run_thread(void *turns)
{
	const stack_t own = { .ss_sp = signal_stack, .ss_size = STACK_BYTES };

	sigaltstack(&own, NULL);
	for (;;) {
		spin_with_registers();
		__atomic_fetch_add((uint64_t *)turns, 1, __ATOMIC_RELAXED);
		nap();
	}
	return NULL;
}

static void meet_something(void)
{
	__asm__ volatile("" ::: "memory");
}

static _Noreturn void run_caller(void)
{
	const stack_t own = { .ss_sp = signal_stack, .ss_size = STACK_BYTES };

	sigaltstack(&own, NULL);
	for (;;) {
		__atomic_load_n(&seen->calls, __ATOMIC_RELAXED)();
		__atomic_fetch_add(&seen->turns[0], 1, __ATOMIC_RELAXED);
	}
}

static void run_program(void)
{
	struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
	pthread_t thread;
	sigset_t set;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	sigprocmask(SIG_BLOCK, &set, NULL);
	if (seen->calls)
		run_caller();
	if (n_threads == 1 ||
	    pthread_create(&thread, NULL, run_thread, &seen->turns[1]) == 0)
		run_thread(&seen->turns[0]);
	_exit(1);
}

struct program {
	pid_t pid;
	struct seen *seen;
	struct count_directory directory;
};

static void wait_for_turns(const struct program *p, long moment)
{
	for (size_t i = 0; i < n_threads; i++) {
		uint64_t turns = __atomic_load_n(&p->seen->turns[i], __ATOMIC_RELAXED);
		unsigned tries = 0;
		int status;

		while (__atomic_load_n(&p->seen->turns[i], __ATOMIC_RELAXED) == turns) {
			if (waitpid(p->pid, &status, WNOHANG) == p->pid)
				fail_msg("killed at %ld: it ends by %x", moment, status);
			if (tries++ == TRIES)
				fail_msg("killed at %ld: thread %zu does not go on",
					 moment, i);
			nap();
		}
	}
}

static void begin_one(struct program *p, void (*calls)(void))
{
	p->seen = mmap(NULL, sizeof(*p->seen), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(p->seen, MAP_FAILED);
	seen = p->seen;
	seen->calls = calls;
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (!p->pid)
		run_program();
	wait_for_turns(p, -1);
	assert_int_equal(count_directory_make_for(&p->directory, p->pid, NULL), 0);
}

static void begin(struct program *p)
{
	begin_one(p, NULL);
}

static void signal_each(pid_t pid, int signal)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };

	assert_int_equal(procfs_tasks(pid, &tids, NULL), 0);
	vec_each(tid, &tids.ids)
		syscall(SYS_tgkill, pid, *tid, signal);
}

/* So that it is none of the engine's calls that it is taken out of. */
static void let_one_thread_count(const struct program *p)
{
	if (n_threads == 1)
		wait_for_turns(p, -1);
}

/* How it ended, as waitpid() has it.  Its threads have signals at once. */
static int attach_until(const struct program *p, long moment)
{
	struct count_attached a;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		calls_left = moment;
		a = (struct count_attached){ 0 };
		if (count_attach(p->pid, &p->directory, "-", NULL, NULL, &a, NULL) < 0)
			_exit(1);
		let_one_thread_count(p);
		a.is_to_rest = true;
		if (count_detach(&a, NULL, NULL) < 0 || !a.rests)
			_exit(1);
		is_coming_again = true;
		if (count_attach(p->pid, &p->directory, "-", NULL, &a, &a, NULL) < 0)
			_exit(1);
		let_one_thread_count(p);
		is_coming_again = a.is_to_rest = false;
		if (count_detach(&a, NULL, NULL) < 0)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	signal_each(p->pid, SIGUSR1);
	return status;
}

/* All its threads block what they did. */
static bool has_mask(pid_t pid)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };

	if (procfs_tasks(pid, &tids, NULL) < 0)
		return false;
	vec_each(tid, &tids.ids)
		if (blocked_by(pid, *tid) != BLOCKED)
			return false;
	return tids.ids.n == n_threads;
}

static bool have_all_handled(const struct program *p, unsigned times)
{
	return __atomic_load_n(&p->seen->handled, __ATOMIC_RELAXED) == times * n_threads;
}

static void end(struct program *p, long moment)
{
	unsigned tries = 0;
	int status;

	wait_for_turns(p, moment);
	for (tries = 0; !has_mask(p->pid); tries++, nap())
		if (tries == TRIES)
			fail_msg("killed at %ld: other signals are blocked", moment);
	signal_each(p->pid, SIGUSR1);
	for (tries = 0; !have_all_handled(p, 2); tries++, nap())
		if (tries == TRIES)
			fail_msg("killed at %ld: its handler is not called", moment);
	wait_for_turns(p, moment);
	kill(p->pid, SIGTERM);
	for (tries = 0; waitpid(p->pid, &status, WNOHANG) == 0; tries++, nap())
		if (tries == TRIES)
			fail_msg("killed at %ld: it does not end", moment);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGTERM)
		fail_msg("killed at %ld: it ended by %x", moment, status);
	count_directory_remove(&p->directory, false);
	munmap(p->seen, sizeof(*p->seen));
}

/* Some at a time, as some wait a second for the recorder.  False: it was not killed any
 * more. */
static bool try_some(long first)
{
	struct program programs[AT_A_TIME];
	int status = SIGKILL;
	long n = 0;

	for (; n < AT_A_TIME && WIFSIGNALED(status); n++) {
		begin(&programs[n]);
		status = attach_until(&programs[n], first + n);
	}
	for (long i = 0; i < n; i++)
		end(&programs[i], first + i);
	assert_int_equal(status, WIFSIGNALED(status) ? SIGKILL : 0);
	return WIFSIGNALED(status);
}

static void try_all(size_t of_threads)
{
	long first = 0;

	n_threads = of_threads;
	while (try_some(first))
		first += AT_A_TIME;
	assert_true(first >= MOMENTS_LEAST);
}

static void who_is_killed_leaves_the_program_as_it_was(void **state)
{
	(void)state;
	try_all(N_THREADS);
}

/* It undoes by itself what is the process's. */
static void who_is_killed_leaves_a_program_of_one_thread_as_it_was(void **state)
{
	(void)state;
	try_all(1);
}

/* False: the engine has begun. */
static bool attach_in_vain(const struct program *p)
{
	struct count_attached a = { 0 };
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		is_spoiled = true;
		_exit(count_attach(p->pid, &p->directory, "-", NULL, NULL, &a, NULL) ==
		      0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

static void a_fault_of_the_engine_takes_no_handler_away(void **state)
{
	struct program p;

	(void)state;
	begin(&p);
	assert_true(attach_in_vain(&p));
	signal_each(p.pid, SIGSEGV);
	end(&p, -1);
}

/* It goes on with the engine, and has the signal there. */
static void who_is_killed_leaves_what_enters_the_engine_its_signal(void **state)
{
	struct program p;
	pid_t pid;
	int status;

	(void)state;
	n_threads = 1;
	begin_one(&p, meet_something);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct count_attached a = { 0 };

		if (count_attach(p.pid, &p.directory, "-", NULL, NULL, &a, NULL) < 0)
			_exit(1);
		wait_for_turns(&p, -1);
		wait_for_turns(&p, -1); /* all else is known by now */
		told = &a.told;
		_exit(count_detach(&a, NULL, NULL) < 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	end(&p, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_is_killed_leaves_the_program_as_it_was),
		cmocka_unit_test(who_is_killed_leaves_a_program_of_one_thread_as_it_was),
		cmocka_unit_test(who_is_killed_leaves_what_enters_the_engine_its_signal),
		cmocka_unit_test(a_fault_of_the_engine_takes_no_handler_away),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
