/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * returns - where functions return to whose returns are probed.
 *
 * In their stack stands the address of the kernel's trampoline instead; where they return
 * to is kept with the thread, innermost first.  Whoever probes them: any walk may meet
 * it.
 */
#ifndef DWELL_COLLECT_BPF_RETURNS_BPF_H
#define DWELL_COLLECT_BPF_RETURNS_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/walk_state.bpf.h"

#define RETURNS_MAX	   64 /* that are passed at once: what a longjmp left */
#define RETURNS_PAGE_BYTES 4096

/* The trampoline stands at the beginning of a page, where hardly any call returns to: so
 * who has none pays nothing for it. */
static __always_inline bool returns_may_be(const struct walk *w)
{
	return !w->is_exact && !(w->pc & (RETURNS_PAGE_BYTES - 1));
}

/* Where the function returns to in truth, if it is by the trampoline, whose caller's
 * stack pointer is w->sp.  Not static: verified by itself. */
__noinline uint64_t returns_find(struct walk *w)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct mm_struct *mm;
	uint64_t stack;

	if (!w)
		return 0;
	mm = (void *)w->mm;
	stack = w->sp - REGISTERS_RETURN_BYTES;
	if (!bpf_core_type_exists(struct xol_area) ||
	    BPF_CORE_READ(mm, uprobes_state.xol_area, vaddr) != w->pc)
		return w->pc;
	if (!w->returns)
		w->returns = (uint64_t)BPF_CORE_READ(task, utask, return_instances);
	for (uint32_t i = 0; i < RETURNS_MAX; i++) {
		struct return_instance *r = (void *)w->returns;
		uint64_t at = r ? BPF_CORE_READ(r, stack) : UINT64_MAX;

		if (at == stack) {
			walk_note_other(w); /* no words tell it */
			return BPF_CORE_READ(r, orig_ret_vaddr) & REGISTERS_PC_MASK;
		}
		if (at > stack)
			return w->pc;
		w->returns = (uint64_t)BPF_CORE_READ(r, next);
	}
	return w->pc;
}

#endif
