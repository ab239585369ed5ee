/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_wait.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/procfs.h"

static siginfo_t wait_for(pid_t tid, int how)
{
	siginfo_t what = { 0 };
	int rc;

	do
		rc = waitid(P_PID, (id_t)tid, &what, __WALL | how);
	while (rc < 0 && errno == EINTR);
	if (rc < 0)
		what.si_code = CLD_EXITED;
	return what;
}

static bool has_ended(const siginfo_t *what)
{
	return what->si_code == CLD_EXITED || what->si_code == CLD_KILLED ||
	       what->si_code == CLD_DUMPED;
}

/* Not one of its threads, who are nobody else's to wait for. */
static bool is_child(pid_t tid)
{
	struct procfs_stat stat;
	pid_t pid;

	return procfs_process_of(tid, &pid, NULL) == 0 && pid == tid &&
	       procfs_stat(pid, &stat, NULL) == 0 && (pid_t)stat.ppid == getpid();
}

enum count_wait count_wait(pid_t tid, int how, int *ret_status)
{
	siginfo_t what;

	/* Who stands may be killed before we take notice of it. */
	do {
		what = wait_for(tid, WSTOPPED | WEXITED | WNOWAIT | how);
		if (has_ended(&what)) {
			if (what.si_pid && !is_child(tid))
				wait_for(tid, WEXITED | WNOHANG);
			return COUNT_WAIT_GONE;
		}
		if (!what.si_pid)
			return COUNT_WAIT_NONE;
		what = wait_for(tid, WSTOPPED | WNOHANG);
	} while (!what.si_pid);
	*ret_status = what.si_status << 8 | 0x7f; /* a signal, and an event above it */
	return COUNT_WAIT_STOPPED;
}
