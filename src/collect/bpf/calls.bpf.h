/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * calls - system calls: which, in which stack, for how long, and with what error.
 *
 * A thread that is in a call is THREAD_BLOCKED since then, its sum is that of the call;
 * one that is not runs.  One that was just made returns from the call that made it, which
 * is its maker's; until then it waits.
 */
#ifndef DWELL_COLLECT_BPF_CALLS_BPF_H
#define DWELL_COLLECT_BPF_CALLS_BPF_H

#include "collect/bpf/again.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/mapped.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/thread.bpf.h"
#include "wire/probe_record.h"

#define CALLS_X32_BIT 0x40000000u

/* The label of a call by its number. */
static __always_inline uint32_t calls_label(const struct task_struct *task,
					    int64_t number)
{
	uint32_t label = (uint32_t)number & ~CALLS_X32_BIT;

	if (label >= PROBE_RECORD_NO_CALL)
		label = PROBE_RECORD_NO_CALL;
	if (registers_call_is_32bit(task))
		label |= PROBE_RECORD_IS_32BIT;
	return label + 1;
}

/* What a call is about: both 0, where its number says all. */
struct calls_object {
	uint64_t what, behind; /* struct stack_record.object, .behind */
	bool has_address;
};

static __always_inline uint32_t calls_walk_for(struct scratch *s,
					       struct task_struct *task, struct thread *t,
					       const struct registers *r, uint32_t event,
					       uint32_t label, struct calls_object object)
{
	uint32_t sum;

	sums_clear_stack(s);
	again_clear_reads(&s->walk);
	if (r)
		taking_user(s, task, r);
	s->walk.record.label = label;
	s->walk.record.object = object.what;
	s->walk.record.behind = object.behind;
	s->walk.hash = taking_mix(taking_mix(s->walk.hash, label), object.what);
	s->walk.has_address |= object.has_address;
	sum = sums_find(s, task, t->whose, event);
	sums_want_image(s, task);
	return sum;
}

static __always_inline uint32_t calls_walk(struct scratch *s, struct task_struct *task,
					   struct thread *t, const struct registers *r,
					   uint32_t event, uint32_t label)
{
	return calls_walk_for(s, task, t, r, event, label, (struct calls_object){ 0 });
}

/* The sum of the call in the stack in which the thread is now. */
static __always_inline uint32_t calls_find_for(struct scratch *s,
					       struct task_struct *task, struct thread *t,
					       const struct registers *r, uint32_t event,
					       uint32_t label, struct calls_object object)
{
	uint64_t who = taking_mix(t->whose, (uint64_t)t->serial << 32 | label);
	struct again_place p;
	struct again *a;
	uint32_t sum;

	again_place(&p, kernel_task(task)->mm, r, taking_mix(who, object.what));
	a = again_find(&p);
	if (a) {
		sums_renew(s, &a->sum);
		if (sums_is_good(a->sum))
			return a->sum;
	}
	sum = calls_walk_for(s, task, t, r, event, label, object);
	a = sum ? again_keep(&p, &s->walk) : NULL;
	if (a)
		a->sum = sum;
	return sum;
}

static __always_inline uint32_t calls_find(struct scratch *s, struct task_struct *task,
					   struct thread *t, const struct registers *r,
					   uint32_t event, uint32_t label)
{
	return calls_find_for(s, task, t, r, event, label, (struct calls_object){ 0 });
}

static __always_inline void calls_charge_error(struct scratch *s, uint32_t sum,
					       uint32_t error)
{
	uint64_t key = taking_mix((uint64_t)sum << 32 | error, STACK_RECORD_PAIR);
	uint32_t number = sums_known(key);

	if (!number)
		number = sums_add_pair(s, sum, PROBE_RECORD_ERROR(error), key);
	sums_charge_part(number, 0, true);
}

/* (task): a thread begins, which the current one has made. */
SEC("tp_btf/sched_wakeup_new")
int began(uint64_t *ctx)
{
	struct thread *t = thread_made((void *)ctx[0], bpf_get_current_task_btf());

	if (t)
		t->where = THREAD_WAITS;
	return 0;
}

/* (task) */
SEC("tp_btf/sched_process_exec")
int executed(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct thread *t = thread_executed(task);

	if (t)
		t->since_ns = bpf_ktime_get_ns();
	if (thread_find(task))
		mapped_program();
	return 0;
}

#endif
