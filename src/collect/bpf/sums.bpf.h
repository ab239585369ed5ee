/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * sums - times by thread, state and stack, as wire/state_record.h describes them.
 */
#ifndef DWELL_COLLECT_BPF_SUMS_BPF_H
#define DWELL_COLLECT_BPF_SUMS_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/thread.bpf.h"
#include "wire/state_record.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, STATE_RECORD_SUMS_MAX);
	__type(key, uint64_t);
	__type(value, uint32_t);
} sum_numbers SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STATE_RECORD_SUMS_MAX);
	__type(key, uint32_t);
	__type(value, struct state_record_sum);
} sums SEC(".maps");

uint32_t sums_next = 1;

static __always_inline void sums_names(struct scratch *s, struct task_struct *task)
{
	struct stack_record *r = &s->walk.record;

	r->pid = task->tgid;
	r->tid = task->pid;
	r->cgroup = BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id);
	bpf_probe_read_kernel(r->comm, sizeof(r->comm), &task->group_leader->comm);
	bpf_probe_read_kernel(r->thread_comm, sizeof(r->thread_comm), &task->comm);
}

/* Tell of the file whose rules the stack in the scratch wants, if one does. */
static __noinline void sums_want_image(struct scratch *s, struct task_struct *task)
{
	uint32_t cpu = bpf_get_smp_processor_id();
	struct stack_record_stats *st;
	void *ring;

	if (!s->walk.wanted_image)
		return;
	st = bpf_map_lookup_elem(&stats, &cpu);
	ring = bpf_map_lookup_elem(&rings, &cpu);
	if (!st || !ring)
		return;
	s->walk.record.pid = task->tgid;
	taking_put_image(st, ring, s);
}

/* The next number, or 0: there is none left. */
static __always_inline uint32_t sums_number(void)
{
	uint32_t number = 0;

	if (sums_next < STATE_RECORD_SUMS_MAX)
		number = __sync_fetch_and_add(&sums_next, 1);
	return number < STATE_RECORD_SUMS_MAX ? number : 0;
}

/* A number for what is in the scratch, or 0. */
static __always_inline uint32_t sums_add(struct scratch *s, struct task_struct *task,
					 uint64_t key)
{
	uint32_t cpu = bpf_get_smp_processor_id(), number;
	void *ring = bpf_map_lookup_elem(&rings, &cpu);
	uint32_t *known;
	bool is_told;

	number = ring ? sums_number() : 0;
	if (!number)
		return 0;
	s->walk.record.key = number;
	s->walk.record.time_ns = bpf_ktime_get_ns();
	sums_names(s, task);
	is_told = taking_put_stack(ring, s, task, 0);
	sums_want_image(s, task); /* its executable */
	if (!is_told)
		return 0;
	if (!bpf_map_update_elem(&sum_numbers, &key, &number, BPF_NOEXIST))
		return number;
	/* Another CPU was faster: interrupts wake from the same stacks everywhere. */
	known = bpf_map_lookup_elem(&sum_numbers, &key);
	return known ? *known : 0;
}

/* The sum of the thread in this state, in the stack that the scratch holds. */
static __always_inline uint32_t sums_find(struct scratch *s, struct task_struct *task,
					  struct thread *t, uint32_t state)
{
	uint64_t key = taking_mix(taking_mix(s->walk.hash, t->serial), state);
	uint32_t *known = bpf_map_lookup_elem(&sum_numbers, &key);

	if (known)
		return *known;
	s->walk.record.state = state;
	return sums_add(s, task, key);
}

static __always_inline void sums_clear_stack(struct scratch *s)
{
	struct walk *w = &s->walk;

	w->n_kernel = w->n = w->stop = w->has_address = w->wanted_image = 0;
	w->hash = 0;
}

/* The same, in no stack. */
static __always_inline uint32_t sums_find_bare(struct scratch *s,
					       struct task_struct *task, struct thread *t,
					       uint32_t state)
{
	sums_clear_stack(s);
	return sums_find(s, task, t, state);
}

static __always_inline void sums_charge(uint32_t number, uint64_t ns)
{
	struct state_record_sum *sum = bpf_map_lookup_elem(&sums, &number);

	if (!sum || !ns)
		return;
	__sync_fetch_and_add(&sum->ns, ns);
	__sync_fetch_and_add(&sum->count, 1);
}

/* And of waiting for a CPU behind it. */
static __always_inline void sums_charge_wait(uint32_t number, uint64_t ns)
{
	struct state_record_sum *sum = bpf_map_lookup_elem(&sums, &number);

	if (!sum || !ns)
		return;
	__sync_fetch_and_add(&sum->wait_ns, ns);
	__sync_fetch_and_add(&sum->n_waits, 1);
}

#endif
