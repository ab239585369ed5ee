/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * triggers - places of the user's choice: how often, in which stack, and the sum of a
 * value.
 *
 * Tracepoints may come in interrupts, also in the middle of a program at a system call:
 * then what that has in hand is left alone, and the stack has the kernel's part only.
 * Programs at places in user code may be preempted by those of other threads: each takes
 * a scratch that nobody has, and shares nothing else that is kept per CPU.
 */
#ifndef DWELL_COLLECT_BPF_TRIGGERS_BPF_H
#define DWELL_COLLECT_BPF_TRIGGERS_BPF_H

#include "collect/bpf/again.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/thread.bpf.h"
#include "wire/probe_record.h"

/* Set before loading, by the number that attachments have for a cookie. */
const volatile struct probe_record_place trigger_places[PROBE_RECORD_PLACES_MAX] = { 0 };

#define TRIGGERS_SCRATCHES 2 /* at a time, on a CPU */

struct triggers_cpu {
	uint32_t is_busy; /* a program at a system call runs */
	uint32_t is_taken[TRIGGERS_SCRATCHES];
	uint32_t zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct triggers_cpu);
} triggers_cpus SEC(".maps");

static __always_inline struct triggers_cpu *triggers_cpu(void)
{
	uint32_t zero = 0;

	return bpf_map_lookup_elem(&triggers_cpus, &zero);
}

static __always_inline uint64_t triggers_register(const struct registers *r, uint32_t at)
{
	uint64_t value = 0;

	if (at <= sizeof(*r) - sizeof(value))
		bpf_probe_read_kernel(&value, sizeof(value), (const char *)r + at);
	return value;
}

static __always_inline uint64_t
triggers_address(const struct registers *r, const volatile struct probe_record_value *v)
{
	uint64_t at = triggers_register(r, v->base) + (uint64_t)v->offset;

	if (v->factor)
		at += triggers_register(r, v->index) * v->factor;
	return v->is_narrow ? (uint32_t)at : at;
}

/* Extended to 64 bits. */
static __always_inline int64_t
triggers_extend(uint64_t bytes, const volatile struct probe_record_value *v)
{
	uint32_t unused_bits = (64 - 8 * v->size) & 63;

	bytes <<= unused_bits;
	if (v->is_signed)
		return (int64_t)bytes >> unused_bits;
	return (int64_t)(bytes >> unused_bits);
}

/* Of what a tracepoint tells. */
static __always_inline int64_t triggers_told(void *ctx,
					     const volatile struct probe_record_value *v)
{
	uint64_t bytes = 0;
	uint32_t size = v->size;
	/* Through memory: a number for the verifier, not a context that is moved. */
	volatile uint64_t record = (uint64_t)ctx;

	if (!size || size > 8 ||
	    bpf_probe_read_kernel(&bytes, size,
				  (const void *)(record + (uint32_t)v->offset)))
		return 0;
	return triggers_extend(bytes, v);
}

/* Of a place in user code. */
static __always_inline int64_t triggers_held(const struct registers *r,
					     const volatile struct probe_record_value *v)
{
	uint64_t bytes = 0;
	uint32_t size = v->size;

	switch (v->where) {
	case PROBE_RECORD_REGISTER:
		return triggers_extend(triggers_register(r, v->base), v);
	case PROBE_RECORD_MEMORY:
		if (!size || size > 8 ||
		    bpf_probe_read_user(&bytes, size,
					(const void *)triggers_address(r, v)))
			return 0;
		return triggers_extend(bytes, v);
	case PROBE_RECORD_CONSTANT:
		return v->offset;
	default:
		return 0;
	}
}

static __always_inline void triggers_charge(uint32_t number, int64_t value,
					    bool is_signed)
{
	struct state_record_sum *sum = sums_at(number);

	if (!sum)
		return;
	__sync_fetch_and_add(&sum->count, 1);
	if (is_signed && value < 0)
		__sync_fetch_and_add(&sum->n_waits, 1);
	else if (value)
		__sync_fetch_and_add(&sum->ns, (uint64_t)value);
}

static __always_inline const volatile struct probe_record_place *
triggers_place(uint64_t cookie)
{
	return &trigger_places[cookie % PROBE_RECORD_PLACES_MAX];
}

static __always_inline uint32_t triggers_sum(struct scratch *s, struct task_struct *task,
					     struct thread *t, uint32_t trigger)
{
	uint32_t sum = sums_find(s, task, t->whose, PROBE_RECORD_TRIGGER + trigger);

	sums_want_image(s, task);
	return sum;
}

/* A tracepoint. */
static __always_inline void triggers_meet(void *ctx, struct scratch *s,
					  struct task_struct *task, struct thread *t,
					  const volatile struct probe_record_place *p)
{
	struct triggers_cpu *cpu = triggers_cpu();
	uint32_t sum;

	sums_clear_stack(s);
	again_clear_reads(&s->walk);
	s->walk.record.label = 0;
	taking_kernel(ctx, s, 0);
	if (cpu && !cpu->is_busy)
		taking_user(s, task, NULL);
	sum = triggers_sum(s, task, t, p->trigger);
	triggers_charge(sum, triggers_told(ctx, &p->value), p->value.is_signed);
}

/* A scratch that nobody has, or NULL; the number behind those of other programs. */
static __always_inline struct scratch *triggers_take(struct triggers_cpu *cpu,
						     uint32_t first, uint32_t *ret)
{
	for (uint32_t i = 0; i < TRIGGERS_SCRATCHES; i++) {
		uint32_t which = first + i;

		*ret = i;
		if (!__sync_val_compare_and_swap(&cpu->is_taken[i], 0, 1))
			return bpf_map_lookup_elem(&scratches, &which);
	}
	return NULL;
}

static __always_inline void triggers_give_back(struct triggers_cpu *cpu, uint32_t i)
{
	*(volatile uint32_t *)&cpu->is_taken[i % TRIGGERS_SCRATCHES] = 0;
}

/* A place in user code. */
static __always_inline void triggers_reach(void *ctx, struct scratch *s,
					   struct task_struct *task, struct thread *t,
					   const volatile struct probe_record_place *p)
{
	volatile uint64_t registers = (uint64_t)ctx; /* as in triggers_told() */
	uint32_t sum;

	sums_clear_stack(s);
	again_clear_reads(&s->walk);
	s->walk.record.label = 0;
	s->walk.apart.is_preempted = true;
	s->walk.apart.is_behind_call = p->is_return;
	taking_user(s, task, (const void *)registers);
	sum = triggers_sum(s, task, t, p->trigger);
	triggers_charge(sum, triggers_held(&s->walk.registers, &p->value),
			p->value.is_signed);
}

#endif
