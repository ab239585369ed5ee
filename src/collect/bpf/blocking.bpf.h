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

/* Not static: verified by itself, once. */
__noinline int blocking_is_fault(const struct scratch *s)
{
	const struct walk *w = &s->walk;

	if (!s)
		return 0;
	for (uint32_t i = 0; i < STACK_RECORD_KERNEL_MAX; i++) {
		uint64_t pc = w->record.frames[i];

		if (i >= w->n_kernel)
			break;
		for (uint32_t k = 0; k < STATE_RECORD_FAULT_RANGES; k++)
			if (pc >= fault_code[k].start && pc < fault_code[k].end)
				return 1;
	}
	return 0;
}

/* The kernel's part, which was not known, into the scratch; is it of a page fault? */
static __always_inline bool blocking_take_kernel(void *ctx, struct scratch *s)
{
	struct known *e;
	bool is_fault;

	blocking_walk_kernel(ctx, s);
	e = known_add(s);
	is_fault = blocking_is_fault(s);
	known_tell(e, s, is_fault);
	return is_fault;
}

/* While the fault is served: code that cannot be read is what is awaited. */
static __always_inline uint32_t blocking_fault(const struct registers *user)
{
	uint8_t byte;

	if (bpf_probe_read_user(&byte, sizeof(byte), (const void *)registers_pc(user)))
		return STATE_RECORD_TEXT_FAULT;
	return STATE_RECORD_DATA_FAULT;
}

/* user: its registers, as the kernel has kept them, NULL: it has none; state: the
 * scheduler's. */
static __always_inline uint32_t blocking_state(bool is_fault, uint32_t state,
					       const struct registers *user)
{
	int64_t call;

	if (state & (TASK_STOPPED | TASK_TRACED))
		return STATE_RECORD_STOPPED;
	if (!user)
		return STATE_RECORD_OTHER;
	call = registers_call(user);
	if (is_fault)
		return call < 0 ? blocking_fault(user) : STATE_RECORD_OTHER_FAULT;
	if (call < 0 || call >= STATE_RECORD_CALLS_MAX)
		return STATE_RECORD_OTHER;
	/* The numbers are those of 64-bit programs. */
	if (registers_kept_are_32bit(user))
		return STATE_RECORD_OTHER;
	return call_states[call];
}

#endif
