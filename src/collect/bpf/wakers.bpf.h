/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * wakers - who wakes a thread, in which stack, and what came of it.
 */
#ifndef DWELL_COLLECT_BPF_WAKERS_BPF_H
#define DWELL_COLLECT_BPF_WAKERS_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/known.bpf.h"
#include "collect/bpf/standing.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/thread.bpf.h"
#include "wire/state_record.h"

#define WAKERS_SKIP_MAX 16
#define WAKERS_WAY	2

/* Set before loading: the function that wakes, and where interrupts enter the kernel. */
const volatile struct state_record_range waking_code = { 0 };
const volatile struct state_record_range interrupt_code = { 0 };

/* Frames of a kernel stack that are our own way from there to here. */
uint32_t wakers_skip = 0;

static __always_inline bool wakers_is_waking(uint64_t pc)
{
	return !waking_code.start || (pc >= waking_code.start && pc < waking_code.end);
}

/* What runs now, from where it wakes outwards. */
static __always_inline void wakers_walk_kernel(void *ctx, struct scratch *s)
{
	uint64_t *frames = s->walk.record.frames;
	uint32_t skip = wakers_skip;

	taking_kernel(ctx, s, skip);
	if (!s->walk.n_kernel || wakers_is_waking(frames[0]))
		return;
	for (uint32_t i = 1; i < WAKERS_SKIP_MAX; i++) {
		if (i >= s->walk.n_kernel || !wakers_is_waking(frames[i]))
			continue;
		/* Other CPUs find the same at the same time. */
		__sync_val_compare_and_swap(&wakers_skip, skip, skip + i);
		s->walk.hash = 0;
		taking_kernel(ctx, s, skip + i);
		return;
	}
}

/* An interrupt's frames only: what it interrupted has nothing to do with it. */
static __always_inline bool wakers_cut(struct scratch *s)
{
	struct walk *w = &s->walk;
	uint64_t hash = 0;

	for (uint32_t i = 0; i < STACK_RECORD_KERNEL_MAX; i++) {
		uint64_t pc = w->record.frames[i];

		if (i >= w->n_kernel)
			break;
		hash = taking_mix(hash, pc);
		if (pc < interrupt_code.start || pc >= interrupt_code.end)
			continue;
		w->n_kernel = i + 1;
		w->hash = hash;
		return true;
	}
	return false;
}

/* A waker is called by its process, whose threads are one. */
static __always_inline uint64_t wakers_whose(struct task_struct *task)
{
	uint64_t name = taking_hash_name(kernel_task(task)->group_leader);

	return apart_process(task) ? taking_mix(name, task->tgid) : name;
}

/* The kernel's part, which was not known, into the scratch; is it an interrupt? */
static __always_inline bool wakers_take_kernel(void *ctx, struct scratch *s)
{
	struct known *e;
	bool is_interrupt;

	wakers_walk_kernel(ctx, s);
	e = known_add(s);
	is_interrupt = wakers_cut(s);
	known_tell(e, s, is_interrupt);
	return is_interrupt;
}

/* Whose program's stack is known, or is none of it, and what is told of it already. */
static __always_inline uint32_t wakers_known(struct task_struct *task,
					     const struct known *e,
					     const struct standing *st, uint64_t whose,
					     uint32_t state)
{
	uint32_t has_address;
	uint64_t hash;

	if (!e || !standing_is_known(st, e->told_hash, &hash, &has_address))
		return 0;
	return sums_known(sums_key(task, hash, has_address, whose, state));
}

/* The number of the stack that wakes now; 0 when it could not be told. */
static __always_inline uint32_t wakers_find(void *ctx, struct scratch *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct known *e = known_find(ctx, task, WAKERS_WAY);
	bool is_interrupt = e && e->mark;
	uint32_t state, number;
	struct standing st;
	uint64_t whose;

	sums_clear_stack(s);
	if (!e)
		is_interrupt = wakers_take_kernel(ctx, s);
	standing_at(&st, task);
	if (is_interrupt)
		st.user = NULL;
	state = is_interrupt ? STATE_RECORD_INTERRUPT : STATE_RECORD_WAKER;
	whose = is_interrupt ? 0 : wakers_whose(task);
	number = wakers_known(task, e, &st, whose, state);
	if (number)
		return number;
	if (e)
		known_take(s, e);
	standing_take(&st, s, task);
	return sums_find(s, task, whose, state);
}

/* What a thread waited for has ended: it waited until it was woken, and then for a CPU.
 */
static __always_inline void wakers_charge(struct scratch *s, uint32_t waiter,
					  uint32_t waker, uint64_t waited_ns,
					  uint64_t late_ns)
{
	uint64_t key = (uint64_t)waiter << 32 | waker;
	struct state_record_sum *sum;
	uint32_t number;

	if (!waiter || !sums_is_good(waker)) {
		sums_charge_part(0, 0, true); /* untold */
		return;
	}
	key = taking_mix(key, STATE_RECORD_WAKEUPS);
	number = sums_known(key);
	if (!number)
		number = sums_add_pair(s, waiter, waker, key);
	sum = sums_at(number);
	if (!sum)
		return;
	if (waited_ns)
		__sync_fetch_and_add(&sum->ns, waited_ns);
	if (late_ns)
		__sync_fetch_and_add(&sum->wait_ns, late_ns);
	__sync_fetch_and_add(&sum->count, 1);
}

#endif
