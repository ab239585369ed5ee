/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that forbid themselves system calls before and after each of a recorder's
 * calls in turn for which they do not stand.
 */
#include "collect/count_visits.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/count_detach.h"
#include "host/clock.h"
#include "host/procfs.h"

#define TRIES	      20000 /* of a millisecond */
#define PATIENCE      5	    /* likewise, of what need not happen */
#define NAP_NS	      1000000
#define MOMENTS_LEAST 10
#define KEPT_NS	      800000000u /* for which one is kept: */
#define KEPT_TRIES    4		 /* at first, and 0.1, 0.3 and 0.7 s later */
#define END_CODE      7

/* The program, which makes no call once it is strict. */

struct seen {
	bool is_to_confine, is_confined, is_to_end, is_lenient;
	uint64_t turns;
};

static struct seen *seen; /* by all */

static bool is_set(const bool *what)
{
	return __atomic_load_n(what, __ATOMIC_ACQUIRE);
}

static void set(bool *what)
{
	__atomic_store_n(what, true, __ATOMIC_RELEASE);
}

/* What neither the engine nor a recorder has any need of. */
static void forbid_little(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(code) / sizeof(code[0]), code };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
		_exit(1);
}

static void run_program(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (!is_set(&seen->is_to_end)) {
		for (volatile unsigned i = 0; i < 30000; i++)
			;
		__atomic_fetch_add(&seen->turns, 1, __ATOMIC_RELAXED);
		if (!is_set(&seen->is_to_confine) || is_set(&seen->is_confined))
			continue;
		if (is_set(&seen->is_lenient))
			forbid_little();
		else
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		set(&seen->is_confined);
	}
	syscall(SYS_exit, END_CODE);
}

/* The recorder, from its calls of ptrace(). */

static long calls_left = -1; /* -1: they are none of a recorder's, or it has come */
static bool is_hindered;     /* no thread can be seized ... */
static unsigned n_refused;   /* ... and so many times none was */
static pid_t program;
static struct count_visits visits = { .lets_rest = true };

static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

static bool stands(void)
{
	struct procfs_stat stat = { 0 };

	return procfs_stat(program, &stat, NULL) < 0 || stat.state == 't';
}

static void confine(void)
{
	set(&seen->is_to_confine);
	for (unsigned i = 0; i < PATIENCE && !is_set(&seen->is_confined); i++) {
		if (stands() || count_visits_are_awaited(&visits))
			break;
		nap();
	}
}

long ptrace(enum __ptrace_request request, ...)
{
	va_list args;
	pid_t tid;
	void *addr, *data;
	long result;

	va_start(args, request);
	tid = va_arg(args, pid_t);
	addr = va_arg(args, void *);
	data = va_arg(args, void *);
	va_end(args);
	if (is_hindered && request == PTRACE_SEIZE) {
		n_refused++;
		errno = EPERM;
		return -1;
	}
	if (calls_left >= 0 && !stands() && !calls_left--)
		confine();
	result = syscall(SYS_ptrace, request, tid, addr, data);
	if (calls_left >= 0 && !stands() && !calls_left--)
		confine();
	return result;
}

/* Comes, lets the engine rest, comes again, goes.  What has forbidden itself calls is
 * refused. */
static _Noreturn void record(const struct count_directory *d, long moment)
{
	struct err why;
	int rc = 0;

	calls_left = moment;
	for (unsigned i = 0; i < 2 && rc == 0 && calls_left >= 0; i++) {
		rc = count_visits_begin(&visits, program, d, "-", &why);
		count_visits_end(&visits);
	}
	count_visits_fini(&visits);
	if (visits.n_kept)
		_exit(2);
	_exit(calls_left >= 0);
}

static pid_t begin(struct count_directory *ret)
{
	pid_t pid;

	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(seen, MAP_FAILED);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		run_program();
	assert_int_equal(count_directory_make_for(ret, pid, NULL), 0);
	return pid;
}

static void wait_for_turn(long moment)
{
	uint64_t before = __atomic_load_n(&seen->turns, __ATOMIC_RELAXED);

	for (unsigned i = 0; __atomic_load_n(&seen->turns, __ATOMIC_RELAXED) == before;
	     i++) {
		if (i == TRIES || waitpid(program, NULL, WNOHANG))
			fail_msg("forbidden at %ld: it does not go on", moment);
		nap();
	}
}

static void end(long moment)
{
	int status = 0;

	set(&seen->is_to_confine);
	for (unsigned i = 0; !is_set(&seen->is_confined) && i < TRIES; i++)
		nap();
	wait_for_turn(moment);
	set(&seen->is_to_end);
	assert_int_equal(waitpid(program, &status, 0), program);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != END_CODE)
		fail_msg("forbidden at %ld: it ended by %x", moment, status);
	munmap(seen, sizeof(*seen));
}

/* False: the recorder has made fewer calls. */
static bool try_moment(long moment)
{
	struct count_directory directory = { 0 };
	pid_t recorder;
	int status;

	program = begin(&directory);
	wait_for_turn(moment);
	recorder = fork();
	assert_true(recorder >= 0);
	if (!recorder)
		record(&directory, moment);
	assert_int_equal(waitpid(recorder, &status, 0), recorder);
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		fail_msg("forbidden at %ld: the recorder ended by %x", moment, status);
	end(moment);
	count_directory_remove(&directory, false);
	return WEXITSTATUS(status) == 0;
}

static void who_forbids_itself_calls_goes_on(void **state)
{
	long moment = 0;

	(void)state;
	while (try_moment(moment))
		moment++;
	assert_true(moment >= MOMENTS_LEAST);
}

/* Then it cannot be taken out any more. */
static void who_waits_in_vain_forbids_itself_calls_with_the_engine(void **state)
{
	struct count_directory directory = { 0 };
	struct err why;

	(void)state;
	program = begin(&directory);
	assert_int_equal(count_visits_begin(&visits, program, &directory, "-", &why), 0);
	set(&seen->is_to_confine);
	for (unsigned i = 0; !is_set(&seen->is_confined) && i < TRIES; i++)
		nap();
	count_visits_end(&visits);
	assert_int_equal(visits.n_kept, 1);
	assert_non_null(strstr(visits.why_kept.text, "seccomp"));
	wait_for_turn(-1);
	kill(program, SIGKILL);
	assert_int_equal(waitpid(program, NULL, 0), program);
	count_visits_fini(&visits);
	count_directory_remove(&directory, false);
	munmap(seen, sizeof(*seen));
}

/* It need not wait for us, and may be left and come to again: by those who may see what
 * it has forbidden itself.  To others nothing is left. */
static void who_forbids_itself_little_is_counted_on(void **state)
{
	struct count_directory directory = { 0 };
	struct count_attached was;
	struct err why;

	(void)state;
	program = begin(&directory);
	set(&seen->is_lenient);
	visits = (struct count_visits){ .lets_rest = true };
	assert_int_equal(count_visits_begin(&visits, program, &directory, "-", &why), 0);
	set(&seen->is_to_confine);
	for (unsigned i = 0; !is_set(&seen->is_confined) && i < TRIES; i++) {
		assert_false(count_visits_are_awaited(&visits));
		nap();
	}
	wait_for_turn(-1);
	was = visits.at.at[0];
	assert_true(count_detach_is_there(&was));
	count_visits_end(&visits);
	assert_int_equal(visits.n_kept, 0);
	wait_for_turn(-1);
	if (count_visits_begin(&visits, program, &directory, "-", &why) < 0) {
		assert_non_null(strstr(why.text, "only root may see which"));
		assert_false(count_detach_is_there(&was));
	}
	count_visits_end(&visits);
	count_visits_fini(&visits);
	end(-1);
	count_directory_remove(&directory, false);
}

static void begin_kept(struct count_directory *ret)
{
	struct err why;

	program = begin(ret);
	visits = (struct count_visits){ .lets_rest = true };
	assert_int_equal(count_visits_begin(&visits, program, ret, "-", &why), 0);
	is_hindered = true;
	n_refused = 0;
	count_visits_end(&visits);
	assert_int_equal(visits.n_kept, 1);
}

static void end_kept(struct count_directory *d)
{
	assert_int_equal(visits.n_kept, 0);
	assert_int_equal(visits.why_kept.code, 0);
	count_visits_fini(&visits);
	end(-1);
	count_directory_remove(d, false);
}

static void who_could_not_be_left_is_when_it_waits_for_it(void **state)
{
	struct count_directory directory = { 0 };

	(void)state;
	begin_kept(&directory);
	set(&seen->is_to_confine);
	for (unsigned i = 0; !count_detach_is_awaited(&visits.kept.at[0].a) && i < TRIES;
	     i++)
		nap();
	is_hindered = false;
	for (unsigned i = 0; visits.n_kept && i < TRIES; i++) {
		count_visits_try_kept(&visits, COUNT_VISITS_LOOK);
		nap();
	}
	end_kept(&directory);
}

static void who_cannot_be_left_is_tried_ever_more_seldom(void **state)
{
	struct count_directory directory = { 0 };
	uint64_t since_ns;

	(void)state;
	begin_kept(&directory);
	since_ns = clock_monotonic_ns();
	while (n_refused < 2) {
		count_visits_try_kept(&visits, COUNT_VISITS_TRY);
		nap();
	}
	while (clock_monotonic_ns() - since_ns < KEPT_NS) {
		nap();
		if (clock_monotonic_ns() - since_ns < KEPT_NS)
			count_visits_try_kept(&visits, COUNT_VISITS_TRY);
	}
	assert_true(n_refused <= KEPT_TRIES);
	is_hindered = false;
	count_visits_try_kept(&visits, COUNT_VISITS_LAST);
	end_kept(&directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_forbids_itself_calls_goes_on),
		cmocka_unit_test(who_waits_in_vain_forbids_itself_calls_with_the_engine),
		cmocka_unit_test(who_forbids_itself_little_is_counted_on),
		cmocka_unit_test(who_could_not_be_left_is_when_it_waits_for_it),
		cmocka_unit_test(who_cannot_be_left_is_tried_ever_more_seldom),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
