/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_observes.h"

#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "collect/source.h"
#include "collect/tracker.h"
#include "host/procfs.h"

/* Ids are given anew while it looks: it might go round in a circle. */
#define GENERATIONS_MAX 1000

/* Of threads, also their process. */
static bool is_root(const struct scope *scope, pid_t program, pid_t pid)
{
	pid_t process;

	if (program && pid == program)
		return true;
	for (size_t i = 0; i < scope->n_pids; i++) {
		if (pid == scope->pids[i])
			return true;
		if (scope->kind == SCOPE_THREADS &&
		    procfs_process_of(scope->pids[i], &process, NULL) == 0 &&
		    pid == process)
			return true;
	}
	return false;
}

/* Who lost its parent is its grandparent's child, or init's. */
static bool is_below_root(const struct scope *scope, pid_t program, pid_t pid)
{
	struct procfs_stat stat;

	for (unsigned i = 0; i < GENERATIONS_MAX && pid > 1; i++) {
		if (procfs_stat(pid, &stat, NULL) < 0)
			return false;
		pid = (pid_t)stat.ppid;
		if (is_root(scope, program, pid))
			return true;
	}
	return false;
}

/* One of whole CPUs observes everybody, and is not meant by who names a process. */
bool session_observes(const struct scope *scope, const struct tracker *tracker,
		      pid_t program, pid_t pid)
{
	bool is_followed;

	if (pid == getpid())
		return true;
	if (scope->kind == SCOPE_CPUS)
		return false;
	if (is_root(scope, program, pid))
		return true;
	if (tracker_knows(tracker, (uint32_t)pid, &is_followed))
		return is_followed;
	return scope->follow_children && is_below_root(scope, program, pid);
}
