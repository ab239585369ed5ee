/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/gauges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "collect/interval_cuts.h"
#include "host/proc_meter.h"
#include "host/procfs.h"
#include "store/gauge.h"
#include "store/writer.h"

/* So that a packet takes a millisecond, however large the program is: threads are looked
 * at one by one, in processes that have no more than that, and so many processes. */
#define THREADS_MAX   256
#define PROCESSES_MAX 256
/* Who ends while it is looked at would be in nobody's values: its parent's were read
 * before.  Then all is read again. */
#define PACKET_TRIES 4
/* Who ends an interval is heard within that: rings are looked at every tenth of a second,
 * and programs wait some milliseconds in them until others have told of them. */
#define SETTLE_NS UINT64_C(250000000)
/* Intervals that a timer ends are so many times as long as it takes to fetch the sums
 * then. */
#define SPARED_TIMES 20

/* What was counted of a thread when it was looked at the last time, and of the threads of
 * a process since the first time. */
struct thread_meter {
	pid_t tid;
	struct proc_meter_thread counted;
};

struct process_meter {
	pid_t pid;
	struct proc_meter_thread sum;
};

struct meters {
	VEC(struct thread_meter) threads;
	VEC(struct process_meter) processes;
	struct map by_tid, by_pid; /* indices */
};

struct gauges {
	struct gauges_settings settings;
	pid_t *roots;
	uint64_t due_ns;
	struct interval_cuts cuts;
	struct gauges_cuts ends;
	VEC(struct gauge) packet;
	struct meters before, now; /* of the last packet and of this one */
	struct procfs_ids found;   /* processes to look at, the roots first */
	struct map is_found;	   /* by pid */
};

static void meters_fini(struct meters *m)
{
	vec_fini(&m->threads);
	vec_fini(&m->processes);
	map_fini(&m->by_tid);
	map_fini(&m->by_pid);
}

static void meters_clear(struct meters *m)
{
	vec_clear(&m->threads);
	vec_clear(&m->processes);
	map_clear(&m->by_tid);
	map_clear(&m->by_pid);
}

static void put(struct gauges *g, uint64_t now_ns, pid_t pid, enum gauge_what what,
		uint64_t value)
{
	*vec_push(&g->packet) = (struct gauge){
		.time_ns = now_ns, .pid = (uint32_t)pid, .what = what, .value = value
	};
}

/* Processes. */

static void find(struct gauges *g, pid_t pid)
{
	bool is_new;

	if (g->found.ids.n >= PROCESSES_MAX)
		return;
	map_slot(&g->is_found, (uint64_t)pid, &is_new);
	if (is_new)
		*vec_push(&g->found.ids) = pid;
}

/* Where the kernel does not tell children, what they used is known when they ended. */
static void find_children_of(struct gauges *g, pid_t pid, pid_t tid)
{
	char path[64], text[4096], *at = text, *end;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, tid);
	if (procfs_read_text(path, text, sizeof(text), NULL) < 0)
		return;
	for (long child = strtol(at, &end, 10); end != at; child = strtol(at, &end, 10)) {
		at = end;
		find(g, (pid_t)child);
	}
}

static void find_children(struct gauges *g, pid_t pid)
{
	struct procfs_ids tids = { 0 };

	if (procfs_tasks(pid, &tids, NULL) == 0 && tids.ids.n <= THREADS_MAX)
		vec_each(tid, &tids.ids)
			find_children_of(g, pid, *tid);
	procfs_ids_fini(&tids);
}

/* The roots, their children, and so on. */
static void find_processes(struct gauges *g)
{
	vec_clear(&g->found.ids);
	map_clear(&g->is_found);
	for (size_t i = 0; i < g->settings.n_pids; i++)
		find(g, g->roots[i]);
	for (size_t i = 0; i < g->found.ids.n && g->settings.follows_children; i++)
		find_children(g, g->found.ids.at[i]);
}

/* What was counted since the last time, of one that may be new. */
static void add_thread(struct gauges *g, struct process_meter *process, pid_t tid,
		       const struct proc_meter_thread *counted)
{
	const uint64_t *i = map_find(&g->before.by_tid, (uint64_t)tid);
	struct proc_meter_thread was = { 0 };

	if (i)
		was = g->before.threads.at[*i].counted;
	if (counted->n_turns < was.n_turns) /* another thread of that number */
		was = (struct proc_meter_thread){ 0 };
	process->sum.ready_ns += counted->ready_ns - was.ready_ns;
	process->sum.n_turns += counted->n_turns - was.n_turns;
	*map_slot(&g->now.by_tid, (uint64_t)tid, NULL) = g->now.threads.n;
	*vec_push(&g->now.threads) = (struct thread_meter){ tid, *counted };
}

/* False: there are too many. */
static bool look_at_threads(struct gauges *g, struct process_meter *process)
{
	struct procfs_ids tids = { 0 };
	struct proc_meter_thread counted;
	int rc = procfs_tasks(process->pid, &tids, NULL);
	bool is_small = rc == 0 && tids.ids.n <= THREADS_MAX;

	for (size_t i = 0; i < tids.ids.n && is_small; i++) {
		pid_t tid = tids.ids.at[i];

		if (proc_meter_thread(process->pid, tid, &counted, NULL) == 0)
			add_thread(g, process, tid, &counted);
	}
	procfs_ids_fini(&tids);
	return is_small;
}

static void put_threads(struct gauges *g, uint64_t now_ns, pid_t pid)
{
	const uint64_t *i = map_find(&g->before.by_pid, (uint64_t)pid);
	struct process_meter process = { .pid = pid };

	if (i)
		process.sum = g->before.processes.at[*i].sum;
	if (!look_at_threads(g, &process))
		return;
	*map_slot(&g->now.by_pid, (uint64_t)pid, NULL) = g->now.processes.n;
	*vec_push(&g->now.processes) = process;
	put(g, now_ns, pid, GAUGE_READY_NS, process.sum.ready_ns);
	put(g, now_ns, pid, GAUGE_TURNS, process.sum.n_turns);
}

/* False: it is gone. */
static bool put_process(struct gauges *g, uint64_t now_ns, pid_t pid)
{
	struct proc_meter_process p;
	struct proc_meter_io io;

	if (proc_meter_process(pid, &p, NULL) < 0)
		return false;
	put(g, now_ns, pid, GAUGE_USER_NS, p.user_ns);
	put(g, now_ns, pid, GAUGE_SYSTEM_NS, p.system_ns);
	if (p.children_ns)
		put(g, now_ns, pid, GAUGE_CHILDREN_NS, p.children_ns);
	put(g, now_ns, pid, GAUGE_MINOR_FAULTS, p.minor_faults);
	put(g, now_ns, pid, GAUGE_MAJOR_FAULTS, p.major_faults);
	put(g, now_ns, pid, GAUGE_RESIDENT_BYTES, p.resident_bytes);
	put(g, now_ns, pid, GAUGE_THREADS, p.n_threads);
	put_threads(g, now_ns, pid);
	if (proc_meter_io(pid, &io, NULL) < 0)
		return true;
	put(g, now_ns, pid, GAUGE_READ_BYTES, io.read_bytes);
	put(g, now_ns, pid, GAUGE_WRITTEN_BYTES, io.written_bytes);
	put(g, now_ns, pid, GAUGE_DISK_READ_BYTES, io.disk_read_bytes);
	put(g, now_ns, pid, GAUGE_DISK_WRITTEN_BYTES, io.disk_written_bytes);
	return true;
}

static void put_machine(struct gauges *g, uint64_t now_ns)
{
	struct proc_meter_machine m;
	uint64_t value;

	if (proc_meter_load(&value, NULL) == 0)
		put(g, now_ns, 0, GAUGE_LOAD_HUNDREDTHS, value);
	if (proc_meter_available(&value, NULL) == 0)
		put(g, now_ns, 0, GAUGE_AVAILABLE_BYTES, value);
	if (proc_meter_machine(&m, NULL) < 0)
		return;
	put(g, now_ns, 0, GAUGE_BUSY_NS, m.busy_ns);
	put(g, now_ns, 0, GAUGE_IDLE_NS, m.idle_ns);
	put(g, now_ns, 0, GAUGE_DISK_WAIT_NS, m.disk_wait_ns);
	put(g, now_ns, 0, GAUGE_STOLEN_NS, m.stolen_ns);
}

/* Parents before their children.  False: one is gone since it was found. */
static bool read_processes(struct gauges *g, uint64_t now_ns)
{
	bool are_there = true;

	vec_clear(&g->packet);
	meters_clear(&g->now);
	find_processes(g);
	for (size_t i = 0; i < g->found.ids.n; i++)
		are_there &= put_process(g, now_ns, g->found.ids.at[i]);
	return are_there;
}

static void read_packet(struct gauges *g, uint64_t now_ns)
{
	struct meters before = g->before;

	for (unsigned i = 0; i < PACKET_TRIES && !read_processes(g, now_ns); i++)
		;
	put_machine(g, now_ns);
	g->before = g->now;
	g->now = before;
}

/* Intervals. */

static void set_timer(struct gauges *g, uint64_t now_ns)
{
	g->due_ns = g->settings.every_ns ? now_ns + g->settings.every_ns : 0;
}

struct gauges *gauges_new(const struct gauges_settings *s, uint64_t now_ns)
{
	struct gauges *g = xcalloc(1, sizeof(*g));

	g->settings = *s;
	g->roots = xcalloc(s->n_pids + 1, sizeof(*g->roots));
	if (s->n_pids)
		memcpy(g->roots, s->pids, s->n_pids * sizeof(*g->roots));
	interval_cuts_begin(&g->cuts, s->writer, now_ns);
	set_timer(g, now_ns);
	read_packet(g, now_ns);
	vec_each(gauge, &g->packet)
		writer_gauge(s->writer, gauge);
	return g;
}

void gauges_free(struct gauges *g)
{
	if (!g)
		return;
	interval_cuts_fini(&g->cuts);
	vec_fini(&g->ends.heard);
	vec_fini(&g->packet);
	meters_fini(&g->before);
	meters_fini(&g->now);
	procfs_ids_fini(&g->found);
	map_fini(&g->is_found);
	free(g->roots);
	free(g);
}

void gauges_freep(struct gauges **g)
{
	gauges_free(*g);
}

uint64_t gauges_due_ns(const struct gauges *g)
{
	return g ? g->due_ns : 0;
}

bool gauges_are_due(const struct gauges *g, uint64_t now_ns)
{
	return g && g->due_ns && now_ns >= g->due_ns;
}

void gauges_settle(struct gauges *g, uint64_t now_ns)
{
	if (g)
		interval_cuts_settle(&g->cuts, now_ns - SETTLE_NS);
}

bool gauges_cut(struct gauges *g, uint64_t time_ns, const char *cause, const char *name)
{
	if (!g || !interval_cuts_may_end(&g->cuts, time_ns))
		return false;
	if (!interval_cuts_is_behind(&g->cuts, time_ns)) {
		read_packet(g, time_ns);
		set_timer(g, time_ns);
	}
	interval_cuts_add(&g->cuts, time_ns, cause, name, g->packet.at, g->packet.n);
	*vec_push(&g->ends.heard) =
		(struct gauges_cut){ time_ns, strcmp(cause, "timer") == 0 };
	return true;
}

void gauges_spare(struct gauges *g, uint64_t took_ns)
{
	uint64_t least_ns = SPARED_TIMES * took_ns;

	if (g && g->due_ns && g->settings.every_ns < least_ns)
		g->due_ns += least_ns - g->settings.every_ns;
}

const struct gauges_cuts *gauges_cuts(const struct gauges *g)
{
	return &g->ends;
}

void gauges_finish(struct gauges *g)
{
	if (g)
		interval_cuts_settle(&g->cuts, UINT64_MAX);
}
