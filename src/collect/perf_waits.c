/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_waits.h"

#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"

enum wait_kind { WAIT_NONE, WAIT_BLOCKED, WAIT_CPU };

struct wait {
	enum wait_kind kind;
	uint64_t since_ns;
	uint32_t pid, tid, cpu, stack;
};

struct perf_waits {
	struct tracker *tracker;
	uint32_t events[3]; /* by enum wait_kind */
	struct map threads; /* tid → struct wait * */
	uint64_t paused_ns; /* since when, 0: counting */
	uint64_t n_charged;
};

struct perf_waits *perf_waits_new(struct tracker *t, uint32_t blocked_event,
				  uint32_t wait_cpu_event)
{
	struct perf_waits *w = xcalloc(1, sizeof(*w));

	w->tracker = t;
	w->events[WAIT_BLOCKED] = blocked_event;
	w->events[WAIT_CPU] = wait_cpu_event;
	return w;
}

void perf_waits_free(struct perf_waits *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->threads.cap; i++)
		if (w->threads.at[i].used)
			free((void *)(uintptr_t)w->threads.at[i].value);
	map_fini(&w->threads);
	free(w);
}

static struct wait *find(struct perf_waits *w, uint32_t tid)
{
	const uint64_t *p = map_find(&w->threads, tid);

	return p ? (struct wait *)(uintptr_t)*p : NULL;
}

static struct wait *ensure(struct perf_waits *w, uint32_t pid, uint32_t tid)
{
	bool is_new;
	uint64_t *slot = map_slot(&w->threads, tid, &is_new);

	if (is_new)
		*slot = (uintptr_t)xcalloc(1, sizeof(struct wait));

	struct wait *x = (struct wait *)(uintptr_t)*slot;

	x->pid = pid;
	x->tid = tid;
	return x;
}

/* Charge the wait up to now; it may go on. */
static void charge(struct perf_waits *w, struct wait *x, uint64_t time_ns)
{
	if (x->kind != WAIT_NONE && !w->paused_ns && time_ns > x->since_ns) {
		w->n_charged++;
		tracker_add(w->tracker,
			    &(struct tracker_sample){ .time_ns = x->since_ns,
						      .weight = time_ns - x->since_ns,
						      .event = w->events[x->kind],
						      .pid = x->pid,
						      .tid = x->tid,
						      .cpu = x->cpu,
						      .count = 1 },
			    x->stack);
	}
	x->since_ns = time_ns;
}

void perf_waits_begin(struct perf_waits *w, uint64_t time_ns, uint32_t pid, uint32_t tid,
		      bool is_blocked)
{
	struct wait *x = ensure(w, pid, tid);

	x->kind = is_blocked ? WAIT_BLOCKED : WAIT_CPU;
	x->since_ns = time_ns;
	x->stack = 0;
}

void perf_waits_fork(struct perf_waits *w, uint64_t time_ns, uint32_t pid, uint32_t tid)
{
	perf_waits_begin(w, time_ns, pid, tid, false);
}

void perf_waits_stack(struct perf_waits *w, uint32_t pid, uint32_t tid, uint32_t stack)
{
	ensure(w, pid, tid)->stack = stack;
}

void perf_waits_out(struct perf_waits *w, uint64_t time_ns, uint32_t pid, uint32_t tid,
		    uint32_t cpu, bool is_preempted)
{
	struct wait *x = ensure(w, pid, tid);

	x->kind = is_preempted ? WAIT_CPU : WAIT_BLOCKED;
	x->since_ns = time_ns;
	x->cpu = cpu;
}

void perf_waits_in(struct perf_waits *w, uint64_t time_ns, uint32_t tid)
{
	struct wait *x = find(w, tid);

	if (!x)
		return;
	charge(w, x, time_ns);
	x->kind = WAIT_NONE;
	x->stack = 0;
}

void perf_waits_exit(struct perf_waits *w, uint64_t time_ns, uint32_t tid)
{
	struct wait *x = find(w, tid);

	if (!x)
		return;
	charge(w, x, time_ns);
	map_remove(&w->threads, tid);
	free(x);
}

static void charge_all(struct perf_waits *w, uint64_t time_ns)
{
	for (size_t i = 0; i < w->threads.cap; i++)
		if (w->threads.at[i].used)
			charge(w, (struct wait *)(uintptr_t)w->threads.at[i].value,
			       time_ns);
}

void perf_waits_pause(struct perf_waits *w, uint64_t time_ns, bool is_paused)
{
	charge_all(w, time_ns);
	w->paused_ns = is_paused ? time_ns : 0;
}

void perf_waits_finish(struct perf_waits *w, uint64_t time_ns)
{
	charge_all(w, time_ns);
}

uint64_t perf_waits_count(const struct perf_waits *w)
{
	return w->n_charged;
}
