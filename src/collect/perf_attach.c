/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_attach.h"

#include <errno.h>
#include <unistd.h>

#include "base/map.h"
#include "collect/facts.h"
#include "collect/perf_blocked.h"
#include "host/clock.h"
#include "host/procfs.h"

/* More would be a program that makes threads faster than they can be opened. */
#define ROUNDS_MAX 100

struct attach {
	struct perf_feed *feed;
	const struct scope *scope;
	struct perf_blocked *blocked; /* NULL: nobody asks */
	struct map followed;	      /* tids that are observed */
	uint64_t n_refused;	      /* descendants that could not be */
};

/* What is open already writes while others are learned of. */
static void serve(struct attach *a)
{
	if (perf_files_is_pressed(a->feed->files))
		perf_feed_drain(a->feed, UINT64_MAX);
}

/* Open a running thread, unless a fork record told that it is observed as somebody's
 * child. */
static int open_thread(struct attach *a, pid_t tid, bool *ret_is_new, struct err *e)
{
	struct err why = { 0 };
	bool is_new;

	map_slot(&a->followed, (uint64_t)tid, &is_new);
	if (!is_new)
		return 0;

	int rc = perf_files_open(a->feed->files, tid, &why);

	serve(a);
	if (rc == 0)
		*ret_is_new = true;
	if (rc < 0 && why.os == ESRCH) /* it ended meanwhile */
		return 0;
	if (rc < 0 && e)
		*e = why;
	return rc;
}

static int open_tasks(struct attach *a, pid_t pid, bool *ret_is_new, struct err *e)
{
	struct procfs_ids tids = { 0 };
	int rc = procfs_tasks(pid, &tids, e);

	perf_feed_drain(a->feed, UINT64_MAX);
	for (size_t i = 0; rc == 0 && i < tids.ids.n; i++)
		rc = open_thread(a, tids.ids.at[i], ret_is_new, e);
	procfs_ids_fini(&tids);
	return rc;
}

/* Until a round finds no new one. */
static int open_process(struct attach *a, pid_t pid, struct err *e)
{
	bool is_new = true;
	int rc = 0;

	for (unsigned round = 0; is_new && rc == 0 && round < ROUNDS_MAX; round++) {
		is_new = false;
		rc = open_tasks(a, pid, &is_new, e);
	}
	return rc;
}

static int snapshot(struct attach *a, pid_t pid, struct err *e)
{
	int rc = tracker_snapshot(a->feed->tracker, clock_monotonic_ns(), (uint32_t)pid,
				  e);

	serve(a);
	return rc;
}

static void begin_waits(struct attach *a, pid_t pid)
{
	struct procfs_ids tids = { 0 };

	if (procfs_tasks(pid, &tids, NULL) == 0)
		vec_each(tid, &tids.ids) {
			perf_blocked_begin(a->blocked, pid, *tid);
			serve(a);
		}
	procfs_ids_fini(&tids);
}

static int snapshot_with_waits(struct attach *a, pid_t pid, struct err *e)
{
	int rc = snapshot(a, pid, e);

	if (rc == 0 && a->blocked)
		begin_waits(a, pid);
	return rc;
}

/* One that may not be observed (another user's) does not spoil the rest. */
static void attach_descendant(struct attach *a, pid_t pid)
{
	if (open_process(a, pid, NULL) == 0)
		(void)!snapshot_with_waits(a, pid, NULL);
	else
		a->n_refused++;
}

/* Those that run already, but for this one, if it is a shell's: a child of one that is
 * observed is observed by itself. */
static int attach_descendants(struct attach *a, pid_t root, struct err *e)
{
	struct procfs_ids pids = { 0 };
	bool is_new = true;
	int rc = 0;

	for (unsigned round = 0; is_new && rc == 0 && round < ROUNDS_MAX; round++) {
		is_new = false;
		rc = procfs_descendants(root, &pids, e);
		perf_feed_drain(a->feed, UINT64_MAX);
		for (size_t i = 0; rc == 0 && i < pids.ids.n; i++) {
			pid_t pid = pids.ids.at[i];

			if (map_find(&a->followed, (uint64_t)pid) || pid == getpid())
				continue;
			is_new = true;
			attach_descendant(a, pid);
		}
	}
	procfs_ids_fini(&pids);
	return rc;
}

static int attach_processes(struct attach *a, struct err *e)
{
	int rc = 0;

	a->feed->forked = &a->followed;
	for (size_t i = 0; i < a->scope->n_pids && rc == 0; i++) {
		rc = open_process(a, a->scope->pids[i], e);
		if (rc == 0)
			rc = snapshot_with_waits(a, a->scope->pids[i], e);
	}
	tracker_expect_descendants(a->feed->tracker);
	for (size_t i = 0; i < a->scope->n_pids && rc == 0; i++)
		if (a->scope->follow_children)
			rc = attach_descendants(a, a->scope->pids[i], e);
	a->feed->forked = NULL;
	if (rc == 0 && a->n_refused)
		facts_loss(a->feed->writer, "not-followed", a->n_refused);
	return rc;
}

static int attach_threads(struct attach *a, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < a->scope->n_pids && rc == 0; i++) {
		pid_t pid, tid = a->scope->pids[i];

		rc = procfs_process_of(tid, &pid, e);
		if (rc == 0)
			rc = perf_files_open(a->feed->files, tid, e);
		if (rc == 0)
			rc = snapshot(a, pid, e);
		/* The others of its process are not observed: nor are their waits. */
		if (rc == 0 && a->blocked)
			perf_blocked_begin(a->blocked, pid, tid);
	}
	return rc;
}

static int attach_machine(struct attach *a, struct err *e)
{
	struct procfs_ids pids = { 0 };
	int rc = perf_files_open(a->feed->files, -1, e);

	serve(a);
	if (rc == 0)
		rc = procfs_processes(&pids, e);
	for (size_t i = 0; rc == 0 && i < pids.ids.n; i++)
		if (procfs_has_ended(pids.ids.at[i]) ||
		    snapshot_with_waits(a, pids.ids.at[i], NULL) < 0)
			continue; /* nobody has waited for it, or it ended meanwhile */
	procfs_ids_fini(&pids);
	return rc;
}

static int attach(struct attach *a, struct err *e)
{
	switch (a->scope->kind) {
	case SCOPE_PROCESSES:
		return attach_processes(a, e);
	case SCOPE_THREADS:
		return attach_threads(a, e);
	case SCOPE_CPUS:
		return attach_machine(a, e);
	default:
		return 0;
	}
}

int perf_attach(struct perf_feed *feed, const struct scope *scope, bool has_kernel,
		struct err *e)
{
	own(perf_blocked_freep) struct perf_blocked *blocked = NULL;
	struct attach a = { .feed = feed, .scope = scope };

	if (feed->waits)
		blocked = perf_blocked_new(feed->tracker, feed->waits, has_kernel);
	a.blocked = blocked;

	int rc = attach(&a, e);

	map_fini(&a.followed);
	return rc;
}
