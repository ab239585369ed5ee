/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_late.h"

#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>

#include "base/vec.h"
#include "collect/count_wait.h"
#include "host/clock.h"
#include "host/procfs.h"

#define AWAIT_NS UINT64_C(5000000000)
#define NAP_NS	 2000000

struct late {
	pid_t pid, tid;
	count_late_go_fn *go;
};

static _Thread_local VEC(struct late) all;

void count_late_add(pid_t pid, pid_t tid, count_late_go_fn *go)
{
	*vec_push(&all) = (struct late){ pid, tid, go };
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
		x->go(x->tid, status);
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

/* Who has been interrupted stops on the next CPU that it gets. */
static bool is_any_to_run(void)
{
	struct procfs_stat stat;

	vec_each(x, &all)
		if (procfs_task_stat(x->pid, x->tid, &stat, NULL) == 0 &&
		    stat.state == 'R')
			return true;
	return false;
}

void count_late_await(void)
{
	uint64_t until_ns = clock_monotonic_ns() + AWAIT_NS;

	count_late_let_go();
	while (is_any_to_run() && clock_monotonic_ns() < until_ns) {
		nanosleep(&(struct timespec){ .tv_nsec = NAP_NS }, NULL);
		count_late_let_go();
	}
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
