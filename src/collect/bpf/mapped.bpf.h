/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * mapped - files of code that a program maps, met when it does so.
 *
 * A file that is met by the first stack that is in it has its rules too late for that
 * stack.  Between a program's exec, or the dynamic linker's mmap(), and the first call
 * from there is about a millisecond, in which most are loaded.
 */
#ifndef DWELL_COLLECT_BPF_MAPPED_BPF_H
#define DWELL_COLLECT_BPF_MAPPED_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/walk.bpf.h"

#define MAPPED_PROT_EXEC 4

/* Nobody else's: whoever is interrupted, or interrupts, goes on as if nothing had been.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct scratch);
} mapped_scratch SEC(".maps");

static __always_inline struct scratch *mapped_take_scratch(const struct task_struct *task)
{
	uint32_t zero = 0;
	struct scratch *s = bpf_map_lookup_elem(&mapped_scratch, &zero);

	if (!s || !kernel_task(task)->mm)
		return NULL;
	s->walk.mm = (uint64_t)kernel_task(task)->mm;
	s->walk.map.start = s->walk.map.end = 0; /* not what was there before */
	s->walk.wanted_image = 0;
	s->walk.apart.is_preempted = true;
	return s;
}

/* What the current thread has at addr.  Not static: verified by itself, once. */
__noinline int mapped_meet(uint64_t addr)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = mapped_take_scratch(task);

	if (s && walk_map(&s->walk, addr))
		sums_want_image(s, task);
	return 0;
}

/* The current thread has executed a program: that, and where it begins, which is the
 * dynamic linker if it has one. */
__noinline int mapped_program(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct scratch *s = mapped_take_scratch(task);
	struct registers r;

	if (!s)
		return 0;
	taking_executable(&s->walk, task);
	sums_want_image(s, task);
	if (!bpf_probe_read_kernel(&r, sizeof(r), registers_kept(task)))
		mapped_meet(registers_pc(&r));
	return 0;
}

/* A system call that has returned: did it map code? */
static __always_inline bool mapped_is_code(const struct registers *r, int64_t result)
{
	return registers_call(r) == REGISTERS_CALL_MMAP && result > 0 &&
	       registers_argument(r, 2, false) & MAPPED_PROT_EXEC;
}

/* One of the current thread, which is followed. */
static __always_inline void mapped_returned(const struct registers *r, int64_t result)
{
	if (mapped_is_code(r, result))
		mapped_meet((uint64_t)result);
}

#endif
