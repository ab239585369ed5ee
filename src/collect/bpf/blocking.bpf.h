/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * blocking - what a thread that leaves its CPU waits for, and in which stack.
 */
#ifndef DWELL_COLLECT_BPF_BLOCKING_BPF_H
#define DWELL_COLLECT_BPF_BLOCKING_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/known.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "wire/state_record.h"

#define BLOCKING_SKIP_MAX 16
#define BLOCKING_WAY	  1

/* Set before loading. */
const volatile uint8_t call_states[STATE_RECORD_CALLS_MAX] = { 0 };
/* The scheduler's code, and that which serves page faults. */
const volatile struct state_record_range scheduler_code = { 0 };
const volatile struct state_record_range fault_code[STATE_RECORD_FAULT_RANGES] = { 0 };

/* Frames of a kernel stack that are our own way from the scheduler to here. */
uint32_t blocking_skip = 0;

static __always_inline bool blocking_is_scheduler(uint64_t pc)
{
	return !scheduler_code.start ||
	       (pc >= scheduler_code.start && pc < scheduler_code.end);
}

/* The current thread's kernel stack from the scheduler outwards. */
static __always_inline void blocking_walk_kernel(void *ctx, struct scratch *s)
{
	uint64_t *frames = s->walk.record.frames;
	uint32_t skip = blocking_skip;

	taking_kernel(ctx, s, skip);
	if (!s->walk.n_kernel || blocking_is_scheduler(frames[0]))
		return;
	for (uint32_t i = 1; i < BLOCKING_SKIP_MAX; i++) {
		if (i >= s->walk.n_kernel || !blocking_is_scheduler(frames[i]))
			continue;
		/* Other CPUs find the same at the same time. */
		__sync_val_compare_and_swap(&blocking_skip, skip, skip + i);
		s->walk.hash = 0;
		taking_kernel(ctx, s, skip + i);
		return;
	}
}

static __always_inline void blocking_take_kernel(void *ctx, struct scratch *s,
						 struct task_struct *task)
{
	if (known_take(ctx, s, task, BLOCKING_WAY))
		return;
	blocking_walk_kernel(ctx, s);
	known_add(s);
}

static __always_inline bool blocking_is_fault(const struct scratch *s)
{
	const struct walk *w = &s->walk;

	for (uint32_t i = 0; i < STACK_RECORD_KERNEL_MAX; i++) {
		uint64_t pc = w->record.frames[i];

		if (i >= w->n_kernel)
			break;
		for (uint32_t k = 0; k < STATE_RECORD_FAULT_RANGES; k++)
			if (pc >= fault_code[k].start && pc < fault_code[k].end)
				return true;
	}
	return false;
}

/* While the fault is served: code that cannot be read is what is awaited. */
static __always_inline uint32_t blocking_fault(const struct registers *user)
{
	uint8_t byte;

	if (bpf_probe_read_user(&byte, sizeof(byte), (const void *)registers_pc(user)))
		return STATE_RECORD_TEXT_FAULT;
	return STATE_RECORD_DATA_FAULT;
}

/* kept: the registers as the kernel has kept them; state: the scheduler's. */
static __always_inline uint32_t blocking_state(const struct scratch *s, uint32_t state,
					       const void *kept)
{
	int64_t call;

	if (state & (TASK_STOPPED | TASK_TRACED))
		return STATE_RECORD_STOPPED;
	if (!kept)
		return STATE_RECORD_OTHER;
	call = registers_call(kept);
	if (blocking_is_fault(s))
		return call < 0 ? blocking_fault(&s->walk.registers)
				: STATE_RECORD_OTHER_FAULT;
	if (call < 0 || call >= STATE_RECORD_CALLS_MAX)
		return STATE_RECORD_OTHER;
	/* The numbers are those of 64-bit programs. */
	if (registers_are_32bit(&s->walk.registers))
		return STATE_RECORD_OTHER;
	return call_states[call];
}

#endif
