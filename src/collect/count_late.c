/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_late.h"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "base/vec.h"
#include "collect/count_wait.h"

#define CALL_STOP (SIGTRAP | 0x80) /* PTRACE_O_TRACESYSGOOD */

struct late {
	pid_t pid, tid;
};

static _Thread_local VEC(struct late) all;

void count_late_add(pid_t pid, pid_t tid)
{
	*vec_push(&all) = (struct late){ pid, tid };
}

/* It stands as it was told to, in a system call that it was followed to, or for a signal
 * of its own, which it gets. */
static void let_go(const struct late *x, int status)
{
	bool has_signal = !(status >> 16) && WSTOPSIG(status) < CALL_STOP;

	ptrace(PTRACE_DETACH, x->tid, 0, has_signal ? (long)WSTOPSIG(status) : 0L);
}

/* Who executes another program is its first thread from then on, and as traced. */
static bool is_renamed(struct late *x)
{
	if (x->tid == x->pid || ptrace(PTRACE_INTERRUPT, x->pid, 0, 0) < 0)
		return false;
	x->tid = x->pid;
	return true;
}

static bool is_to_stop(struct late *x)
{
	int status;

	switch (count_wait(x->tid, WNOHANG, &status)) {
	case COUNT_WAIT_STOPPED:
		let_go(x, status);
		return false;
	case COUNT_WAIT_GONE:
		return is_renamed(x);
	default:
		return true;
	}
}

void count_late_let_go(void)
{
	size_t n = 0;

	for (size_t i = 0; i < all.n; i++)
		if (is_to_stop(&all.at[i]))
			all.at[n++] = all.at[i];
	all.n = n;
	if (!n)
		vec_fini(&all);
}

void count_late_forget(void)
{
	vec_fini(&all);
}

bool count_late_are_any(void)
{
	return all.n != 0;
}

pid_t count_late_find(pid_t pid)
{
	vec_each(x, &all)
		if (x->pid == pid)
			return x->tid;
	return 0;
}
