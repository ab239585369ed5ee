/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/heap_registers.h"

#include "collect/inject_stop.h"
#include "host/clock.h"
#include "host/procfs.h"

/* The recorder does nothing else meanwhile: so long at once, and in all. */
#define STOP_NS	  UINT64_C(20000000)
#define IN_ALL_NS UINT64_C(2000000000)

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

static bool may_try_again(struct heap_registers *r, const struct err *why)
{
	return why->code == ERR_LIMIT && clock_monotonic_ns() < r->until_ns;
}

bool heap_registers_read(struct heap_registers *r, pid_t pid, pid_t tid)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };
	struct inject_stop *stop;
	struct err why = { 0 };

	if (procfs_tasks(pid, &tids, NULL) < 0 || !has_others(pid, tid, &tids) ||
	    !may_stop(pid, &tids))
		return true;
	if (!r->until_ns)
		r->until_ns = clock_monotonic_ns() + IN_ALL_NS;
	stop = inject_stop_begin(pid, STOP_NS, &why);
	if (!stop)
		return !may_try_again(r, &why);
	inject_stop_each(stop, take, r);
	inject_stop_end(stop);
	return true;
}

void heap_registers_fini(struct heap_registers *r)
{
	vec_fini(&r->words);
}
