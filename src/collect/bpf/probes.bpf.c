/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * probes - system calls and what triggers at places of the user's choice, by stack.
 *
 * Programs at system calls run in the thread that makes them, and not two on one CPU;
 * those at places in user code may.
 */
#include "collect/bpf/calls.bpf.h"
#include "collect/bpf/foreseen.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/mapped.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/thread.bpf.h"
#include "collect/bpf/triggers.bpf.h"

/* Set before loading. */
const volatile bool has_calls = false;

/* Whose scratch is which. */
enum { SCRATCH_CALL, SCRATCH_CUT, SCRATCH_TOLD, SCRATCH_USER };

char LICENSE[] SEC("license") = "Dual BSD/GPL";

static __always_inline struct scratch *scratch_of(uint32_t which)
{
	return bpf_map_lookup_elem(&scratches, &which);
}

/* (registers, number): what is done here is not in the call's time. */
SEC("tp_btf/sys_enter")
int entered(uint64_t *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_get(task);
	struct scratch *s = scratch_of(SCRATCH_CALL);
	struct triggers_cpu *cpu = triggers_cpu();

	if (!t || !s || !cpu)
		return 0;
	cpu->is_busy = 1;
	t->sum = calls_find(s, task, t, (const void *)ctx[0], PROBE_RECORD_CALL,
			    calls_label(task, (int64_t)ctx[1]));
	cpu->is_busy = 0;
	t->where = THREAD_BLOCKED;
	t->since_ns = bpf_ktime_get_ns();
	return 0;
}

/* (registers, result) */
SEC("tp_btf/sys_exit")
int left(uint64_t *ctx)
{
	uint64_t now = bpf_ktime_get_ns(), ns;
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread *t = thread_get(task);
	struct scratch *s = scratch_of(SCRATCH_CALL);
	const struct registers *r = (const void *)ctx[0];
	struct triggers_cpu *cpu = triggers_cpu();
	int64_t result = (int64_t)ctx[1];

	if (!t || !s || !cpu)
		return 0;
	mapped_returned(r, result);
	if (t->where == THREAD_WAITS) { /* it was made by this call */
		t->where = THREAD_RUNS;
		return 0;
	}
	/* It was in the call before the recording, or a filter of calls let it not be. */
	if (t->where != THREAD_BLOCKED) {
		if (t->where == THREAD_RUNS)
			t->since_ns = now;
		cpu->is_busy = 1;
		t->sum = calls_find(s, task, t, r, PROBE_RECORD_CALL,
				    calls_label(task, registers_call(r)));
		cpu->is_busy = 0;
	}
	t->where = THREAD_RUNS;
	ns = thread_lap(t, now);
	if (!from_ns)
		return 0;
	sums_charge_part(t->sum, ns, true);
	if (result < 0 && result >= -PROBE_RECORD_ERRNO_MAX)
		calls_charge_error(s, t->sum, (uint32_t)-result);
	return 0;
}

/* What the kernel tells; which trigger it is, is the attachment's cookie. */
SEC("tracepoint")
int met(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint64_t cookie = bpf_get_attach_cookie(ctx);
	struct thread *t = thread_find(task);
	struct scratch *s = scratch_of(SCRATCH_TOLD);

	if (!t && is_everybody) /* the idle task too: interrupts come there */
		t = thread_add(task);
	if (t && s && from_ns)
		triggers_meet(ctx, s, task, t, triggers_place(cookie));
	return 0;
}

/* (registers): code of a program, or a function that has returned. */
SEC("uprobe")
int reached(void *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	uint64_t cookie = bpf_get_attach_cookie(ctx);
	struct triggers_cpu *cpu = triggers_cpu();
	struct thread *t = thread_get(task);
	struct scratch *s;
	uint32_t which;

	if (!t || !cpu || !from_ns)
		return 0;
	s = triggers_take(cpu, SCRATCH_USER, &which);
	if (!s) { /* lost, and counted as such */
		sums_charge_part(0, 0, true);
		return 0;
	}
	triggers_reach(ctx, s, task, t, triggers_place(cookie));
	triggers_give_back(cpu, which);
	return 0;
}

/* (task): it ends in a call, which does not return. */
SEC("tp_btf/sched_process_exit")
int ended(uint64_t *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	struct thread *t = thread_find(task);

	if (!t || t->where != THREAD_BLOCKED)
		return 0;
	t->where = THREAD_ENDED;
	sums_charge_part(t->sum, thread_lap(t, bpf_ktime_get_ns()), false);
	return 0;
}

/* Every thread that exists when the recording begins. */
SEC("iter/task")
int begin(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && thread_is_told(task) && !thread_find(task))
		thread_add(task);
	return 0;
}

/* In the call since before the recording: its stack is that of another thread. */
static __always_inline void find_call(struct scratch *s, struct task_struct *task,
				      struct thread *t)
{
	int64_t number = -1;

	if (kernel_task(task)->mm && !task->on_cpu)
		number = registers_call(registers_kept(task));
	if (number < 0)
		return;
	t->sum = calls_walk(s, task, t, NULL, PROBE_RECORD_CALL,
			    calls_label(task, number));
	__sync_val_compare_and_swap(&t->where, THREAD_UNKNOWN, THREAD_BLOCKED);
}

/* What is under way is charged up to now, and has not returned; its number is of this
 * generation from now on. */
SEC("iter/task")
int cut(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct scratch *s = scratch_of(SCRATCH_CUT);
	struct thread *t;

	if (!task || !s)
		return 0;
	t = thread_find(task);
	if (!t)
		return 0;
	if (t->where == THREAD_UNKNOWN && has_calls)
		find_call(s, task, t);
	thread_name(task, t);
	sums_renew(s, &t->sum);
	if (t->where == THREAD_BLOCKED)
		sums_charge_part(t->sum, thread_lap(t, bpf_ktime_get_ns()), false);
	return 0;
}
