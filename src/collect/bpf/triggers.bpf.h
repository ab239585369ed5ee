/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * triggers - tracepoints of the user's choice: how often, in which stack, and the sum of
 * a field.
 *
 * They may come in interrupts, also in the middle of a program at a system call: then
 * what that has in hand is left alone, and the stack has the kernel's part only.
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
const volatile struct probe_record_field trigger_fields[PROBE_RECORD_TRIGGERS_MAX] = {
	0
};

struct triggers_cpu {
	uint32_t is_busy, zero; /* a program at a system call runs */
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

/* The field of a record, extended to 64 bits. */
static __always_inline int64_t triggers_value(void *ctx,
					      const volatile struct probe_record_field *f)
{
	uint64_t bytes = 0;
	uint32_t size = f->size, unused_bits = 64 - 8 * size;
	/* Through memory: a number for the verifier, not a context that is moved. */
	volatile uint64_t record = (uint64_t)ctx;

	if (!size || size > 8 ||
	    bpf_probe_read_kernel(&bytes, size, (const void *)(record + f->offset)))
		return 0;
	bytes <<= unused_bits & 63;
	if (f->is_signed)
		return (int64_t)bytes >> (unused_bits & 63);
	return (int64_t)(bytes >> (unused_bits & 63));
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

static __always_inline void triggers_meet(void *ctx, struct scratch *s,
					  struct task_struct *task, struct thread *t,
					  uint32_t i)
{
	const volatile struct probe_record_field *f =
		&trigger_fields[i % PROBE_RECORD_TRIGGERS_MAX];
	struct triggers_cpu *cpu = triggers_cpu();
	uint32_t sum;

	sums_clear_stack(s);
	again_clear_reads(&s->walk);
	s->walk.record.label = 0;
	taking_kernel(ctx, s, 0);
	if (cpu && !cpu->is_busy)
		taking_user(s, task, NULL);
	sum = sums_find(s, task, t->whose, PROBE_RECORD_TRIGGER + i);
	sums_want_image(s, task);
	triggers_charge(sum, triggers_value(ctx, f), f->is_signed);
}

#endif
