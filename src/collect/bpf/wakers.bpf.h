/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * wakers - who wakes a thread, in which stack, and what came of it.
 */
#ifndef DWELL_COLLECT_BPF_WAKERS_BPF_H
#define DWELL_COLLECT_BPF_WAKERS_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/known.bpf.h"
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

static __always_inline void wakers_take_kernel(void *ctx, struct scratch *s,
					       struct task_struct *task)
{
	if (known_take(ctx, s, task, WAKERS_WAY))
		return;
	wakers_walk_kernel(ctx, s);
	known_add(s);
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
	uint64_t name = taking_hash_name(task->group_leader);

	return has_processes ? taking_mix(name, task->tgid) : name;
}

/* The number of the stack that wakes now; 0 when it could not be told. */
static __always_inline uint32_t wakers_find(void *ctx, struct scratch *s)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint32_t state = STATE_RECORD_WAKER;
	uint64_t whose = 0;

	sums_clear_stack(s);
	wakers_take_kernel(ctx, s, task);
	if (wakers_cut(s)) {
		state = STATE_RECORD_INTERRUPT;
	} else {
		taking_user(s, task, NULL);
		whose = wakers_whose(task);
	}
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
		sums_charge(0, waited_ns); /* untold */
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
