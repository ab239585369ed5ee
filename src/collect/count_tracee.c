/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_tracee.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "collect/count_late.h"
#include "collect/count_wait.h"
#include "host/clock.h"
#include "host/procfs.h"

#define CALL_STOP	(SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */
#define CODE_64BIT	0x33		 /* cs */
#define STOP_LIMIT_NS	2000000000
#define LET_GO_LIMIT_NS UINT64_C(100000000)
#define END_LIMIT_NS	20000000
#define NAP_NS		20000
#define NAP_MAX_NS	5000000

static struct count_tracee *find(struct count_tracees *t, pid_t tid)
{
	vec_each(x, &t->at)
		if (x->tid == tid)
			return x;
	return NULL;
}

static bool has_ended(pid_t pid, pid_t tid)
{
	struct procfs_stat stat;

	return procfs_task_stat(pid, tid, &stat, NULL) < 0 || strchr("ZX", stat.state);
}

/* By a thread of ours for which it is late (collect/count_late), or one that has just
 * ended. */
static bool is_traced_by_us(pid_t pid, pid_t tid)
{
	static const char name[] = "\nTracerPid:\t";
	char text[PROCFS_STATUS_BYTES], path[64];
	const char *by;
	pid_t process;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)tid);
	if (procfs_read_text(path, text, sizeof(text), NULL) < 0)
		return false;
	by = strstr(text, name);
	return by &&
	       procfs_process_of((pid_t)strtol(by + sizeof(name) - 1, NULL, 10), &process,
				 NULL) == 0 &&
	       process == getpid();
}

/* *n: one more, unless it has ended. */
static int seize(struct count_tracees *t, pid_t tid, size_t *n, struct err *e)
{
	struct count_tracee *x = find(t, tid);

	if (x && !x->is_gone)
		return 0;
	if (ptrace(PTRACE_SEIZE, tid, 0, PTRACE_O_TRACESYSGOOD) < 0) {
		int os = errno;

		if (os == ESRCH || has_ended(t->pid, tid))
			return 0;
		if (os == EPERM && is_traced_by_us(t->pid, tid))
			return err_set(e, ERR_LIMIT,
				       "thread %d has not stopped yet as it was told to",
				       tid);
		errno = os;
		return err_os(e, "cannot trace thread %d", tid);
	}
	if (!x)
		x = vec_push(&t->at);
	*x = (struct count_tracee){ .tid = tid };
	count_tracee_interrupt(x);
	++*n;
	return 0;
}

int count_tracees_seize(struct count_tracees *t, size_t *ret_n, struct err *e)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };
	int rc = procfs_tasks(t->pid, &tids, e);

	*ret_n = 0;
	for (size_t i = 0; i < tids.ids.n && rc == 0; i++)
		rc = seize(t, tids.ids.at[i], ret_n, e);
	return rc;
}

void count_tracee_interrupt(struct count_tracee *t)
{
	ptrace(PTRACE_INTERRUPT, t->tid, 0, 0);
}

void count_tracee_nap(uint64_t since_ns)
{
	uint64_t ns = (clock_monotonic_ns() - since_ns) / 16;

	count_late_let_go();
	ns = ns < NAP_NS ? NAP_NS : ns > NAP_MAX_NS ? NAP_MAX_NS : ns;
	nanosleep(&(struct timespec){ .tv_nsec = (long)ns }, NULL);
}

#define PENDING_MAX 64

static uint64_t limit_ns(const struct count_tracees *t)
{
	return t->limit_ns ? t->limit_ns : STOP_LIMIT_NS;
}

/* Not one that somebody has sent. */
static bool is_fault(const siginfo_t *info)
{
	static const uint64_t faults = 1ULL << SIGSEGV | 1ULL << SIGBUS | 1ULL << SIGILL |
				       1ULL << SIGFPE | 1ULL << SIGTRAP;

	return info->si_code > 0 && info->si_signo < 64 && (faults >> info->si_signo & 1);
}

bool count_tracee_has_fault(const struct count_tracee *t)
{
	struct __ptrace_peeksiginfo_args which = { .nr = PENDING_MAX };
	siginfo_t pending[PENDING_MAX];
	long n = ptrace(PTRACE_PEEKSIGINFO, t->tid, &which, pending);

	for (long i = 0; i < n; i++)
		if (is_fault(&pending[i]))
			return true;
	return false;
}

static enum count_stop call_stop(const struct count_tracee *t)
{
	struct __ptrace_syscall_info info = { 0 };

	ptrace(PTRACE_GET_SYSCALL_INFO, t->tid, sizeof(info), &info);
	return info.op == PTRACE_SYSCALL_INFO_ENTRY ? COUNT_STOP_ENTRY : COUNT_STOP_EXIT;
}

/* The kernel makes most calls again that a stop interrupts, unless a handler comes first;
 * those that only say EINTR where that is told to it, in a stop on the way out of it. */
static void make_call_again(pid_t tid)
{
	const void *rax = (const void *)offsetof(struct user, regs.rax);
	struct user_regs_struct regs;
	struct count_restart call;

	if (ptrace(PTRACE_PEEKUSER, tid, rax, 0) != -EINTR ||
	    ptrace(PTRACE_GETREGS, tid, 0, &regs) < 0 || regs.cs != CODE_64BIT)
		return;
	call = (struct count_restart){ (int64_t)regs.rax, (int64_t)regs.orig_rax,
				       regs.rip };
	if (count_restart(&call))
		ptrace(PTRACE_POKEUSER, tid, rax, (long)call.kernels);
}

static enum count_stop tell(struct count_tracee *t, int status, int *ret_signal)
{
	t->is_stopped = true;
	if (status >> 16 != PTRACE_EVENT_STOP && WSTOPSIG(status) == CALL_STOP)
		return call_stop(t);
	make_call_again(t->tid);
	if (status >> 16 == PTRACE_EVENT_STOP)
		return COUNT_STOP_ASKED;
	*ret_signal = WSTOPSIG(status);
	return COUNT_STOP_SIGNAL;
}

static enum count_stop wait_for(struct count_tracee *t, int how, int *ret_signal)
{
	enum count_wait what = COUNT_WAIT_GONE;
	int status = 0;

	if (!t->is_gone)
		what = count_wait(t->tid, how, &status);
	t->is_gone = what == COUNT_WAIT_GONE;
	if (t->is_gone)
		return COUNT_STOP_GONE;
	return what == COUNT_WAIT_NONE ? COUNT_STOP_NONE : tell(t, status, ret_signal);
}

enum count_stop count_tracee_poll(struct count_tracee *t, int *ret_signal)
{
	return wait_for(t, WNOHANG, ret_signal);
}

void count_tracee_go(struct count_tracee *t, int signal)
{
	t->is_stopped = false;
	ptrace(PTRACE_SYSCALL, t->tid, 0, (long)signal);
}

/* As what it executes fails. */
static bool stands_at_fault(const struct count_tracee *t)
{
	siginfo_t info = { 0 };

	return ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info) == 0 && is_fault(&info);
}

/* All signals are blocked that can be; those that cannot come later. */
bool count_tracee_go_to_call(struct count_tracee *t, enum count_stop which)
{
	for (;;) {
		int signal = 0;
		enum count_stop stop;

		count_tracee_go(t, 0);
		stop = wait_for(t, 0, &signal);
		if (stop == which || stop == COUNT_STOP_GONE)
			return stop == which;
		if (stop != COUNT_STOP_SIGNAL)
			continue;
		if (stands_at_fault(t))
			return false;
		t->signal = signal;
	}
}

static void go_on(struct count_tracee *t, int signal)
{
	t->is_stopped = false;
	ptrace(PTRACE_CONT, t->tid, 0, (long)signal);
}

/* Its signals are blocked: what is not is SIGSTOP, and comes later. */
static bool wait_until_asked(struct count_tracee *t)
{
	for (;;) {
		int signal = 0;
		enum count_stop stop = wait_for(t, 0, &signal);

		if (stop == COUNT_STOP_ASKED || stop == COUNT_STOP_GONE)
			return stop == COUNT_STOP_ASKED;
		if (stop == COUNT_STOP_SIGNAL)
			t->signal = signal;
		go_on(t, 0);
	}
}

bool count_tracee_stop_again(struct count_tracee *t)
{
	count_tracee_interrupt(t);
	go_on(t, 0);
	return wait_until_asked(t);
}

void count_tracee_go_on(struct count_tracee *t)
{
	go_on(t, 0);
}

bool count_tracee_keep_going(struct count_tracee *t)
{
	int signal = 0;
	enum count_stop stop = count_tracee_poll(t, &signal);

	if (stop == COUNT_STOP_NONE)
		return true;
	if (stop == COUNT_STOP_GONE)
		return false;
	if (stop == COUNT_STOP_SIGNAL) {
		if (stands_at_fault(t))
			return false;
		t->signal = signal;
	}
	go_on(t, 0);
	return true;
}

/* Unless its signals are blocked it stops for one of them. */
bool count_tracee_step(struct count_tracee *t)
{
	int signal = 0;
	enum count_stop stop;
	siginfo_t info = { 0 };

	t->is_stopped = false;
	ptrace(PTRACE_SINGLESTEP, t->tid, 0, 0);
	stop = wait_for(t, 0, &signal);
	if (stop != COUNT_STOP_SIGNAL)
		return stop == COUNT_STOP_ASKED;
	ptrace(PTRACE_GETSIGINFO, t->tid, 0, &info);
	if (signal == SIGTRAP && info.si_code == TRAP_TRACE)
		return true;
	t->signal = signal;
	return false;
}

bool count_tracee_stop_now(struct count_tracee *t)
{
	count_tracee_interrupt(t);
	return wait_until_asked(t);
}

/* A signal that comes first is the program's: it has it, and stops behind. */
static bool stop_one(struct count_tracee *t, uint64_t until_ns)
{
	uint64_t since_ns = clock_monotonic_ns();

	while (!t->is_stopped && !t->is_gone) {
		int signal = 0;

		switch (count_tracee_poll(t, &signal)) {
		case COUNT_STOP_NONE:
			if (clock_monotonic_ns() > until_ns)
				return false;
			count_tracee_nap(since_ns);
			break;
		case COUNT_STOP_SIGNAL:
			count_tracee_interrupt(t);
			go_on(t, signal);
			break;
		case COUNT_STOP_ASKED:
			if (count_tracee_has_fault(t))
				go_on(t, 0);
			break;
		default:
			break;
		}
	}
	return true;
}

/* It stands as it was told to, in a system call that it was followed to, or for a signal
 * of its own, which it gets. */
static void let_go_late(pid_t tid, int status)
{
	struct count_tracee t = { .tid = tid };

	tell(&t, status, &t.signal);
	count_tracee_let_go(&t);
}

/* Only a thread that stands can be let go. */
void count_tracees_fini(struct count_tracees *t)
{
	uint64_t most_ns = limit_ns(t) < LET_GO_LIMIT_NS ? limit_ns(t) : LET_GO_LIMIT_NS;
	uint64_t until_ns = clock_monotonic_ns() + most_ns;

	count_tracees_let_go(t);
	vec_each(x, &t->at)
		count_tracee_interrupt(x);
	vec_each(x, &t->at)
		if (!stop_one(x, until_ns))
			count_late_add(t->pid, x->tid, let_go_late);
	count_tracees_let_go(t);
	vec_fini(&t->at);
}

static char state_of(pid_t pid, pid_t tid)
{
	struct procfs_stat stat;

	return procfs_task_stat(pid, tid, &stat, NULL) == 0 ? stat.state : 0;
}

/* ERR_LIMIT: it stops when its turn on a CPU comes, or has in this moment. */
static int refuse(const struct count_tracees *t, pid_t tid, uint64_t since_ns,
		  struct err *e)
{
	char state = state_of(t->pid, tid);

	if (state == 'R' || state == 't')
		return err_set(e, ERR_LIMIT,
			       "thread %d has been waiting for a CPU for %.1f s", tid,
			       (double)(clock_monotonic_ns() - since_ns) / 1e9);
	return err_set(e, ERR_UNSUPPORTED,
		       "thread %d does not stop, in a call that cannot be interrupted",
		       tid);
}

/* Who only waits for a CPU is waited for as if it were told to stop now. */
static int check_late(const struct count_tracees *t, uint64_t since_ns, struct err *e)
{
	for (;;) {
		pid_t late;

		count_late_let_go();
		late = count_late_find(t->pid);
		if (!late)
			return 0;
		if (state_of(t->pid, late) != 'R' ||
		    clock_monotonic_ns() - since_ns > limit_ns(t))
			return refuse(t, late, since_ns, e);
		count_tracee_nap(since_ns);
	}
}

int count_tracees_stop_one(struct count_tracees *t, pid_t tid, struct err *e)
{
	uint64_t since_ns = clock_monotonic_ns();
	size_t n = 0;
	int rc = check_late(t, since_ns, e);

	if (rc == 0)
		rc = seize(t, tid, &n, e);
	if (rc == 0 && n && !stop_one(&t->at.at[0], since_ns + limit_ns(t)))
		rc = refuse(t, tid, since_ns, e);
	return rc;
}

int count_tracees_stop(struct count_tracees *t, struct err *e)
{
	uint64_t since_ns = clock_monotonic_ns();
	size_t n_new;
	int rc = check_late(t, since_ns, e);

	if (rc < 0)
		return rc;
	do {
		rc = count_tracees_seize(t, &n_new, e);
		vec_each(x, &t->at)
			if (!stop_one(x, since_ns + limit_ns(t)) && rc == 0)
				rc = refuse(t, x->tid, since_ns, e);
	} while (n_new && rc == 0);
	return rc;
}

/* Who was killed meanwhile has to be taken notice of by its tracer: nobody else learns of
 * the end of the process before. */
static void see_end(pid_t tid)
{
	uint64_t until_ns = clock_monotonic_ns() + END_LIMIT_NS;
	int status;

	while (count_wait(tid, WNOHANG, &status) != COUNT_WAIT_GONE &&
	       clock_monotonic_ns() < until_ns)
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
}

void count_tracee_let_go(struct count_tracee *t)
{
	if (ptrace(PTRACE_DETACH, t->tid, 0, (long)t->signal) < 0)
		see_end(t->tid);
	t->is_gone = true;
}

void count_tracees_let_go(struct count_tracees *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->at.n; i++) {
		struct count_tracee *x = &t->at.at[i];

		if (x->is_stopped && !x->is_gone)
			count_tracee_let_go(x);
		else if (!x->is_gone)
			t->at.at[n++] = *x;
	}
	t->at.n = n;
}

bool count_tracee_get(struct count_tracee *t, struct user_regs_struct *ret)
{
	return ptrace(PTRACE_GETREGS, t->tid, 0, ret) == 0;
}

bool count_tracee_set(struct count_tracee *t, const struct user_regs_struct *regs)
{
	return ptrace(PTRACE_SETREGS, t->tid, 0, regs) == 0;
}

bool count_tracee_get_mask(struct count_tracee *t, uint64_t *ret)
{
	return ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(*ret), ret) == 0;
}

bool count_tracee_set_mask(struct count_tracee *t, uint64_t mask)
{
	return ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(mask), &mask) == 0;
}
