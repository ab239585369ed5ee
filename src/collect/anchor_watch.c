/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_watch.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/procfs.h"

#define N_TRIES	     256 /* of the measurement */
#define LEAST_HIT_NS 100
#define THREADS_MAX  64

/* PERF_FORMAT_TOTAL_TIME_RUNNING alone. */
struct value {
	uint64_t n, running_ns;
};

static int open_place(pid_t tid, uint64_t addr)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = sizeof(attr),
		.bp_type = HW_BREAKPOINT_X,
		.bp_addr = addr,
		.bp_len = sizeof(long),
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return (int)syscall(SYS_perf_event_open, &attr, tid, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

void anchor_watch_fini(struct anchor_watch *w)
{
	vec_each(fd, &w->fds)
		close(*fd);
	vec_fini(&w->fds);
}

/* What it costs. */

static __attribute__((noinline)) void be_met(void)
{
	__asm__ volatile("" ::: "memory");
}

static uint64_t time_of_calls(void)
{
	uint64_t before_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	for (unsigned i = 0; i < N_TRIES; i++)
		be_met();
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - before_ns;
}

static uint64_t measure(void)
{
	own(closep) int fd = open_place(0, (uint64_t)(uintptr_t)be_met);
	struct value v = { 0 };
	uint64_t ns;

	if (fd < 0)
		return 0;
	ns = time_of_calls();
	if (read(fd, &v, sizeof(v)) != sizeof(v) || v.n != N_TRIES)
		return 0; /* they do not count here */
	return ns / N_TRIES > LEAST_HIT_NS ? ns / N_TRIES : LEAST_HIT_NS;
}

uint64_t anchor_watch_cost_ns(struct anchor_watch_cost *c)
{
	if (!c->is_known)
		*c = (struct anchor_watch_cost){ true, measure() };
	return c->ns;
}

/* Watching. */

static bool open_thread(struct anchor_watch *w, pid_t tid, const uint64_t *addrs)
{
	for (size_t i = 0; i < w->n_places; i++) {
		int fd = open_place(tid, addrs[i]);

		if (fd < 0)
			return false;
		*vec_push(&w->fds) = fd;
	}
	return true;
}

/* A thread that ends meanwhile is left out. */
static void close_begun(struct anchor_watch *w, size_t n_whole)
{
	while (w->fds.n > n_whole)
		close(w->fds.at[--w->fds.n]);
}

bool anchor_watch_begin(struct anchor_watch *w, pid_t pid, const uint64_t *addrs,
			size_t n)
{
	own(procfs_ids_fini) struct procfs_ids tids = { 0 };

	*w = (struct anchor_watch){ .n_places = n };
	if (procfs_tasks(pid, &tids, NULL) < 0 || tids.ids.n > THREADS_MAX)
		return false;
	vec_each(tid, &tids.ids) {
		size_t n_whole = w->fds.n;

		if (!open_thread(w, *tid, addrs))
			close_begun(w, n_whole);
	}
	return w->fds.n;
}

void anchor_watch_end(struct anchor_watch *w)
{
	uint64_t running_ns = 0;

	for (size_t i = 0; i < w->fds.n; i++) {
		struct value v = { 0 };

		if (read(w->fds.at[i], &v, sizeof(v)) != sizeof(v))
			continue;
		w->hits[i % w->n_places] += v.n;
		w->all_hits += v.n;
		running_ns += v.running_ns;
	}
	w->cpu_ns = running_ns / w->n_places;
	anchor_watch_fini(w);
}
