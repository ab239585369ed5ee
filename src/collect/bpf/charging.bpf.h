/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * charging - the time of a thread to the states in which it was.
 */
#ifndef DWELL_COLLECT_BPF_CHARGING_BPF_H
#define DWELL_COLLECT_BPF_CHARGING_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/thread.bpf.h"
#include "collect/bpf/wakers.bpf.h"
#include "wire/state_record.h"

/* What the clocks of a switch differ by is not the hypervisor's. */
#define CHARGING_TAKEN_MIN_NS 20000
/* A share is of so many parts. */
#define CHARGING_SHARE_BITS 10
#define CHARGING_SEEN_NS    (UINT64_C(1) << 40)

/* How far the scheduler's own clock is behind, on each CPU; 0: unknown. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint64_t);
} charging_clocks SEC(".maps");

/* The number that a thread keeps; where it has none, or it could not be renewed, that of
 * the same state in no stack: no time is lost. */
static __always_inline uint32_t charging_sum(struct scratch *s, struct task_struct *task,
					     struct thread *t, uint32_t kept,
					     uint32_t state)
{
	return sums_is_good(kept) ? kept : sums_find_bare(s, task, t->whose, state);
}

/* In the sum that is kept, or in no stack.  What nobody could be told of is owed, and
 * lost is only that it was there. */
static __always_inline void charging_state(struct scratch *s, struct task_struct *task,
					   struct thread *t, uint32_t kept,
					   uint32_t state, uint64_t ns)
{
	uint32_t sum;

	if (!ns)
		return;
	sum = charging_sum(s, task, t, kept, state);
	if (!sum)
		__sync_fetch_and_add(&t->owed_ns, ns);
	sums_charge_part(sum, sum ? ns : 0, true);
}

/* What is owed, as soon as there is room: the thread was in some state meanwhile. */
static __always_inline void charging_pay(struct scratch *s, struct task_struct *task,
					 struct thread *t)
{
	if (t->owed_ns)
		charging_state(s, task, t, 0, STATE_RECORD_UNACCOUNTED,
			       __sync_lock_test_and_set(&t->owed_ns, 0));
}

/* Of CPU time in hand, what the scheduler's account says was not the thread's: `taken` of
 * it at least since it began to run. */
static __always_inline uint64_t charging_give_back(struct scratch *s,
						   struct task_struct *task,
						   struct thread *t, int64_t taken,
						   uint64_t ns)
{
	int64_t owed = taken - t->taken_ns;

	if (owed < CHARGING_TAKEN_MIN_NS)
		return ns;
	if (owed > (int64_t)ns)
		owed = ns;
	charging_state(s, task, t, 0, STATE_RECORD_TAKEN, owed);
	t->taken_ns += owed;
	return ns - owed;
}

/* Running has ended, by the clock and by the scheduler's account. */
static __always_inline void charging_end_run(struct scratch *s, struct task_struct *task,
					     struct thread *t, uint64_t now)
{
	int64_t taken;

	t->pending_ns += thread_lap(t, now);
	if (!t->began_ns) {
		t->ran_ns = task->se.sum_exec_runtime;
		return;
	}
	taken = now - t->began_ns - (task->se.sum_exec_runtime - t->ran_ns);
	t->pending_ns = charging_give_back(s, task, t, taken, t->pending_ns);
	t->taken_ns -= taken;
	t->began_ns = 0;
	t->ran_ns = task->se.sum_exec_runtime;
}

/* What samples have seen; what they saw long ago counts less, and nothing overflows. */
static __always_inline void charging_see(struct thread *t, uint64_t *seen_ns, uint64_t ns)
{
	*seen_ns += ns;
	if (t->user_ns + t->system_ns < CHARGING_SEEN_NS)
		return;
	t->user_ns /= 2;
	t->system_ns /= 2;
}

/* CPU time since the last sample is shared as what samples have seen. */
static __always_inline void
charging_share_pending(struct scratch *s, struct task_struct *task, struct thread *t)
{
	uint64_t seen = t->user_ns + t->system_ns, ns = t->pending_ns, user;

	if (!ns)
		return;
	t->pending_ns = 0;
	if (!seen) {
		charging_state(s, task, t, 0,
			       task->flags & PF_KTHREAD ? STATE_RECORD_SYSTEM
							: STATE_RECORD_UNACCOUNTED,
			       ns);
		return;
	}
	user = ns * ((t->user_ns << CHARGING_SHARE_BITS) / seen) >> CHARGING_SHARE_BITS;
	charging_state(s, task, t, t->user_sum, STATE_RECORD_USER, user);
	charging_state(s, task, t, t->system_sum, STATE_RECORD_SYSTEM, ns - user);
}

/* When a thread that is blocked was woken; 0: it was not.  Who is woken in the moment of
 * leaving its CPU seems to run still, and waits for a CPU from the beginning: that it was
 * so is seen when nothing else has woken it and it may run all the same. */
static __always_inline uint64_t charging_woken(const struct task_struct *task,
					       const struct thread *t)
{
	if (t->where != THREAD_BLOCKED)
		return 0;
	if (t->woken_ns || task->__state)
		return t->woken_ns;
	return t->early_ns;
}

/* Waiting has ended, or is cut here and goes on. */
static __always_inline void charging_wait(struct scratch *s, struct task_struct *task,
					  struct thread *t, uint64_t now, bool is_over)
{
	uint64_t ns = thread_lap(t, now), late = 0, woken = charging_woken(task, t);
	uint32_t sum;

	if (t->where == THREAD_UNKNOWN || t->where == THREAD_RUNS) {
		charging_state(s, task, t, 0, STATE_RECORD_UNACCOUNTED, ns);
		return;
	}
	if (!ns && !is_over)
		return;
	if (woken && now > woken)
		late = now - woken;
	if (late > ns)
		late = ns;
	t->waited_ns += ns - late;
	t->late_ns += late;
	sum = charging_sum(s, task, t, t->sum, t->state);
	if (!sum)
		__sync_fetch_and_add(&t->owed_ns, ns);
	sums_charge_part(sum, sum ? ns - late : 0, is_over && t->waited_ns);
	sums_charge_wait(sum, sum ? late : 0, is_over && t->late_ns);
	if (!is_over)
		return;
	if (woken && t->waited_ns + t->late_ns)
		wakers_charge(s, sum, t->waker, t->waited_ns, t->late_ns);
	t->waited_ns = t->late_ns = 0;
}

/* The thread left its CPU and that was not told, as some kernels hide the threads of
 * their own: when it did, follows from the time that it has run by the scheduler's
 * account. What it did since is for the caller to say. */
static __always_inline void charging_left(struct task_struct *task, struct thread *t,
					  uint64_t now)
{
	uint64_t from = from_ns, since = t->since_ns < from ? from : t->since_ns;
	uint64_t then = (t->began_ns ? t->began_ns : since) + task->se.sum_exec_runtime -
			t->ran_ns;

	if (then < since)
		then = since;
	if (then > now)
		then = now;
	t->pending_ns += thread_lap(t, then);
	t->ran_ns = task->se.sum_exec_runtime;
	t->began_ns = 0;
	t->woken_ns = t->early_ns = t->waker = 0;
}

/* It waits for a CPU, in no stack that could be seen. */
static __always_inline void charging_waits(struct scratch *s, struct task_struct *task,
					   struct thread *t)
{
	t->sum = sums_find_bare(s, task, t->whose, STATE_RECORD_WAIT_CPU);
	t->state = STATE_RECORD_WAIT_CPU;
	t->where = THREAD_WAITS;
}

/* It runs, since then. */
static __always_inline void charging_runs(struct scratch *s, struct task_struct *task,
					  struct thread *t, uint64_t then)
{
	charging_wait(s, task, t, then, true);
	t->where = THREAD_RUNS;
	t->woken_ns = t->early_ns = t->waker = 0;
	t->began_ns = then;
	t->seen_ns = task->se.sum_exec_runtime;
}

static __always_inline void charging_enter(struct scratch *s, struct task_struct *task,
					   struct thread *t, uint64_t now)
{
	/* That it had left was not told, or it was never met.  It was not asleep, or its
	 * waking would have told. */
	if (t->where <= THREAD_RUNS) {
		if (t->where == THREAD_RUNS)
			charging_left(task, t, now);
		charging_waits(s, task, t);
	}
	charging_runs(s, task, t, now);
	t->ran_ns = t->seen_ns;
}

/* Has it no CPU, as far as was told? */
static __always_inline bool charging_is_away(const struct thread *t)
{
	return t->where == THREAD_WAITS || t->where == THREAD_BLOCKED;
}

/* The switch to it was not told: when it was, follows in the same way; known_ns: when the
 * account was last brought up to date. */
static __always_inline void charging_enter_late(struct scratch *s,
						struct task_struct *task,
						struct thread *t, uint64_t known_ns)
{
	uint64_t ran = task->se.sum_exec_runtime - t->ran_ns, then = known_ns - ran;

	if (ran > known_ns || then < t->since_ns)
		then = t->since_ns;
	charging_runs(s, task, t, then);
}

/* The scheduler's clock of this CPU, as it was when the current thread was switched to.
 */
static __always_inline void charging_note_clock(const struct task_struct *task,
						uint64_t now)
{
	uint32_t zero = 0;
	uint64_t *behind = bpf_map_lookup_elem(&charging_clocks, &zero);

	if (behind)
		*behind = now - task->se.exec_start;
}

/* When the account of the current thread was last brought up to date, by the clock of
 * others. */
static __always_inline uint64_t charging_known(const struct task_struct *task,
					       uint64_t now)
{
	uint32_t zero = 0;
	const uint64_t *behind = bpf_map_lookup_elem(&charging_clocks, &zero);
	uint64_t known = behind && *behind ? task->se.exec_start + *behind : now;

	return known < now ? known : now;
}

/* CPU time since the last sample.  The scheduler's account is brought up to date at its
 * own ticks: when it has been since then, it is late by less than that. */
static __always_inline uint64_t charging_unseen(struct scratch *s,
						struct task_struct *task,
						struct thread *t, uint64_t now)
{
	uint64_t lap = thread_lap(t, now), ns = t->pending_ns + lap;
	uint64_t ran = task->se.sum_exec_runtime;

	t->pending_ns = 0;
	if (!t->began_ns || ran == t->seen_ns)
		return ns;
	t->seen_ns = ran;
	return charging_give_back(s, task, t, now - t->began_ns - (ran - t->ran_ns) - lap,
				  ns);
}

#endif
