/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_interrupt.h"

#include <stdbool.h>

#include "collect/count_tracee.h"
#include "host/clock.h"
#include "host/procfs.h"

/* The recorder does nothing else meanwhile.  Who has been woken in that moment may have
 * to wait for a CPU longer, and is let go when it stands (collect/count_late). */
#define LIMIT_NS UINT64_C(20000000)

static bool waits(pid_t pid, pid_t tid)
{
	struct procfs_stat stat;

	return procfs_task_stat(pid, tid, &stat, NULL) == 0 && stat.state == 'S';
}

uint64_t inject_interrupt(pid_t pid, pid_t tid)
{
	struct count_tracees one = { .pid = pid, .limit_ns = LIMIT_NS };
	uint64_t since_ns = clock_monotonic_ns();

	if (!waits(pid, tid))
		return 0;
	if (count_tracees_stop_one(&one, tid, NULL) < 0 && !one.at.n) {
		count_tracees_fini(&one);
		return 0;
	}
	count_tracees_fini(&one);
	return clock_monotonic_ns() - since_ns;
}
