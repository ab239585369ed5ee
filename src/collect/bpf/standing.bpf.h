/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * standing - the program's part of the stack of a thread that stands in the kernel.
 *
 * A thread that blocks, or wakes others, mostly does so in a stack in which it did so
 * before.  Where all that a walk would look at is as it was (again.bpf.h), the hash of
 * its frames is known without the walk, and what they are need not be: it has been told.
 * Only what stands in a system call is kept; where others are interrupted is by chance.
 */
#ifndef DWELL_COLLECT_BPF_STANDING_BPF_H
#define DWELL_COLLECT_BPF_STANDING_BPF_H

#include "collect/bpf/again.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/taking.bpf.h"

struct standing {
	const struct registers *user; /* NULL: there is no such part */
	struct again_place place;
	bool is_fit; /* for being kept */
};

/* The process, and which of its programs it runs; numbers of processes come again. */
static __always_inline uint64_t standing_who(const struct task_struct *task)
{
	uint64_t who = (uint64_t)task->tgid << 32 | (uint32_t)task->self_exec_id;

	return taking_mix(kernel_task(task)->group_leader->start_time, who);
}

/* Where the current thread stands. */
static __always_inline void standing_at(struct standing *st, struct task_struct *task)
{
	const struct registers *user = registers_kept(task);
	struct mm_struct *mm = kernel_task(task)->mm;

	*st = (struct standing){ 0 };
	if (!mm || task->flags & PF_KTHREAD || !registers_kept_are_user(user))
		return;
	st->user = user;
	st->is_fit = registers_call(user) >= 0 && !registers_kept_are_32bit(user);
	if (st->is_fit)
		again_place(&st->place, mm, user, standing_who(task));
}

/* The hash of all frames, of those of the kernel's part and the program's. */
static __always_inline uint64_t standing_hash(uint64_t kernel, uint64_t user)
{
	return taking_mix(kernel, user);
}

/* That of the whole stack, if it is known, and whether it has addresses; kernel: of that
 * part. */
static __always_inline bool standing_is_known(const struct standing *st, uint64_t kernel,
					      uint64_t *ret_hash,
					      uint32_t *ret_has_address)
{
	const struct again *a;

	*ret_hash = standing_hash(kernel, 0);
	*ret_has_address = 0;
	if (!st->user)
		return true;
	a = st->is_fit ? again_find(&st->place) : NULL;
	if (!a)
		return false;
	*ret_hash = standing_hash(kernel, a->hash);
	*ret_has_address = a->has_address;
	return true;
}

/* By walking, behind the kernel's part that is in the scratch. */
static __always_inline void standing_take(const struct standing *st, struct scratch *s,
					  struct task_struct *task)
{
	uint64_t kernel = s->walk.hash;

	s->walk.hash = 0;
	again_clear_reads(&s->walk);
	if (st->user && taking_user(s, task, NULL) && st->is_fit)
		again_keep(&st->place, &s->walk);
	s->walk.hash = standing_hash(kernel, s->walk.hash);
}

#endif
