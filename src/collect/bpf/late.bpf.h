/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * late - how long after its time a sample is taken.
 *
 * The clock's interrupt waits while interrupts are off: what is done then is not seen,
 * and counts where they are turned on again.  The kernel's timer still says when it was
 * due.  Places are counted in a small table per CPU, in which those that come often
 * stay.
 */
#ifndef DWELL_COLLECT_BPF_LATE_BPF_H
#define DWELL_COLLECT_BPF_LATE_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "wire/stack_record.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct stack_record_late);
} late SEC(".maps");

/* ctx: the argument of the program; now_ns: when it began. */
static __always_inline uint64_t late_ns(void *ctx, uint64_t now_ns)
{
	struct bpf_perf_event_data_kern *kernel_ctx = ctx;
	struct perf_event *event = BPF_CORE_READ(kernel_ctx, event);
	uint64_t due_ns = (uint64_t)BPF_CORE_READ(event, hw.hrtimer.node.expires);

	return due_ns && due_ns < now_ns ? now_ns - due_ns : 0;
}

static __always_inline uint32_t late_step(uint64_t ns)
{
	uint32_t step = 0;

	for (uint32_t i = 0; i < STACK_RECORD_LATE_STEPS - 1; i++)
		step += ns >= STACK_RECORD_LATE_STEP_NS << i;
	return step;
}

/* One that is not here takes from who is, and the place when that has nothing left. */
static __always_inline void late_at(struct stack_record_late *l, uint64_t pc)
{
	uint32_t i = (pc * UINT64_C(0x9e3779b97f4a7c15)) >> 58;
	struct stack_record_late_place *p = &l->places[i % STACK_RECORD_LATE_PLACES];

	if (p->pc == pc) {
		p->count++;
	} else if (!p->count) {
		p->pc = pc;
		p->count = 1;
	} else {
		p->count--;
	}
}

/* pc: in the kernel; 0: user code was interrupted, where interrupts are never off. */
static __always_inline void late_note(void *ctx, uint32_t cpu, uint64_t now_ns,
				      uint64_t pc)
{
	struct stack_record_late *l = bpf_map_lookup_elem(&late, &cpu);
	uint64_t ns = late_ns(ctx, now_ns);

	if (!l)
		return;
	l->steps[late_step(ns) % STACK_RECORD_LATE_STEPS]++;
	if (ns < STACK_RECORD_LATE_NS)
		return;
	l->late++;
	l->late_ns += ns;
	if (pc)
		late_at(l, pc);
	else
		l->late_user++;
}

#endif
