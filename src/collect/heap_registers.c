/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_registers.h"

#include <stdbool.h>

#include "base/own.h"
#include "collect/inject_stop.h"
#include "host/procfs.h"

/* One that cannot be interrupted would have everybody wait for it. */
static bool may_stop(pid_t pid, const struct procfs_ids *tids)
{
	vec_each(tid, &tids->ids) {
		struct procfs_stat stat;

		if (procfs_task_stat(pid, *tid, &stat, NULL) == 0 && stat.state == 'D')
			return false;
	}
	return true;
}

static bool has_others(pid_t pid, pid_t tid, const struct procfs_ids *tids)
{
	vec_each(x, &tids->ids) {
		struct procfs_stat stat;

		if (*x != tid && procfs_task_stat(pid, *x, &stat, NULL) == 0 &&
		    stat.state != 'Z' && stat.state != 'X')
			return true;
	}
	return false;
}

static void take(void *ctx, const uint64_t *registers, size_t n)
{
	struct heap_registers *r = ctx;

	for (size_t i = 0; i < n; i++)
		*vec_push(&r->words) = registers[i];
}

void heap_registers_read(struct heap_registers *r, pid_t pid, pid_t tid)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };
	struct inject_stop *stop;

	if (procfs_tasks(pid, &tids, NULL) < 0 || !has_others(pid, tid, &tids) ||
	    !may_stop(pid, &tids))
		return;
	stop = inject_stop_begin(pid, 0, NULL);
	if (stop)
		inject_stop_each(stop, take, r);
	inject_stop_end(stop);
}

void heap_registers_fini(struct heap_registers *r)
{
	vec_fini(&r->words);
}
