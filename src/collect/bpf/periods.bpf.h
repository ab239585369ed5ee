/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * periods - how many periods of a clock a sample stands for.
 *
 * Periods are drawn around a mean, and a sample stands for the mean.  What the time since
 * the last sample is more or less than that is owed to the next: one in ten or so stands
 * for two periods, or for none.  So who ran for a while has its time but for one period,
 * whichever was drawn then.
 *
 * The clock's timer waits while interrupts are off, while the kernel holds its timers
 * back and while a hypervisor has the CPU, and goes on with the next period: those that
 * passed have no sample.  The one that comes late stands for them, for they are in the
 * thread's CPU time as well; but not for what the hypervisor says that it took, which is
 * not.  The scheduler asks for that when it looks at its clock the next time, so until
 * then what was missed waits.
 */
#ifndef DWELL_COLLECT_BPF_PERIODS_BPF_H
#define DWELL_COLLECT_BPF_PERIODS_BPF_H

#include "collect/bpf/kernel.bpf.h"

#define PERIODS_EVENTS 16 /* a power of two */

struct periods_event {
	uint64_t last_ns; /* when its last sample was due */
	int64_t owed_ns;
};

/* Of a CPU. */
struct periods {
	struct periods_event events[PERIODS_EVENTS];
	/* The sample of now: how many periods were over before it came. */
	uint64_t missed;
	/* What waits: so many of an event's, 0: none, for the key of the sample that came
	 * late. */
	uint64_t waiting, period_ns, key;
	uint64_t event;
	uint64_t clock;	    /* the scheduler's, when it came */
	uint64_t stolen_ns; /* what was told before anything waited */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct periods);
} periods SEC(".maps");

/* One that comes late, or the first after others were not for the program: the idle task
 * has none, nor has an event that was off.  The timer knows when it was due, and that the
 * one before was due a period earlier, whoever had that. */
static __always_inline uint64_t periods_late(struct periods *p, struct periods_event *of,
					     void *ctx, uint64_t period_ns,
					     uint64_t now_ns)
{
	struct perf_event *e = KERNEL_READ(struct bpf_perf_event_data_kern, ctx, event);
	uint64_t due_ns =
		(uint64_t)KERNEL_READ(struct perf_event, e, hw.hrtimer.node.expires);
	uint64_t drawn_ns = KERNEL_READ(struct perf_event, e, hw.sample_period);

	if (!drawn_ns || due_ns > now_ns) {
		of->last_ns = now_ns;
		return period_ns;
	}
	p->missed = (now_ns - due_ns) / drawn_ns;
	of->last_ns = due_ns + p->missed * drawn_ns;
	return drawn_ns;
}

/* period_ns is the mean of those that are drawn, of which none is an eighth longer: most
 * samples come in time, and the timer itself is not looked at. */
static __always_inline uint64_t periods_since(struct periods *p, void *ctx,
					      uint32_t event, uint64_t period_ns,
					      uint64_t now_ns)
{
	struct periods_event *of = &p->events[event % PERIODS_EVENTS];
	uint64_t since_ns = now_ns - of->last_ns;

	p->missed = 0;
	if (since_ns > period_ns + period_ns / 8)
		since_ns = periods_late(p, of, ctx, period_ns, now_ns);
	else
		of->last_ns = now_ns;
	of->owed_ns += (int64_t)(since_ns - period_ns);
	if (of->owed_ns >= (int64_t)period_ns) {
		of->owed_ns -= (int64_t)period_ns;
		return 2;
	}
	if (of->owed_ns <= -(int64_t)period_ns && !p->missed) {
		of->owed_ns += (int64_t)period_ns;
		return 0;
	}
	return 1;
}

/* The scheduler's, of the CPU that the task runs on; NULL: there is no way to it. */
static __always_inline const struct rq *periods_rq(const struct task_struct *task)
{
	const struct cfs_rq *cfs_rq = NULL;

	if (!bpf_core_field_exists(task->se.cfs_rq) ||
	    !bpf_core_field_exists(cfs_rq->rq) ||
	    !bpf_core_field_exists(cfs_rq->rq->prev_steal_time_rq))
		return NULL;
	cfs_rq = kernel_task(task)->se.cfs_rq;
	return cfs_rq->rq;
}

/* All that the hypervisor has told. */
static __always_inline uint64_t periods_stolen_ns(const struct rq *rq)
{
	return rq ? rq->prev_steal_time_rq : 0;
}

/* The sample of this key has come so late, as others before it may have. */
static __always_inline void periods_wait(struct periods *p, uint64_t key, uint32_t event,
					 uint64_t period_ns, const struct rq *rq)
{
	p->key = key;
	p->event = event;
	p->waiting += p->missed;
	p->period_ns = period_ns;
	p->clock = rq ? rq->clock : 0;
}

/* What waits may go: the scheduler has asked the hypervisor since. */
static __always_inline bool periods_are_told(const struct periods *p, const struct rq *rq)
{
	return p->waiting && !p->missed && (!rq || p->clock != rq->clock);
}

/* What waited, less what was stolen. */
static __always_inline uint64_t periods_take(struct periods *p, const struct rq *rq)
{
	uint64_t all_ns = p->waiting * p->period_ns;
	uint64_t stolen_ns = periods_stolen_ns(rq) - p->stolen_ns;

	p->waiting = 0;
	return stolen_ns < all_ns ? (all_ns - stolen_ns) / p->period_ns : 0;
}

/* Nothing waits: what is told from now on is of what will. */
static __always_inline void periods_rest(struct periods *p, const struct rq *rq)
{
	if (!p->waiting)
		p->stolen_ns = periods_stolen_ns(rq);
}

#endif
