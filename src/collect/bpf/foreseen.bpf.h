/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * foreseen - files that a program is about to map, met before it does, or that one that
 * runs has mapped, before it is observed.
 *
 * The collector tells where they are mapped, in itself or in that one: each is given its
 * number and told as any other that is met, so that the rules to walk its stacks by are
 * there from the beginning.  To be called before any other program is attached, as it
 * uses what is theirs.
 */
#ifndef DWELL_COLLECT_BPF_FORESEEN_BPF_H
#define DWELL_COLLECT_BPF_FORESEEN_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/taking.bpf.h"
#include "collect/bpf/walk.bpf.h"
#include "wire/state_record.h"

struct state_record_foreseen foreseen = { 0 };

struct foreseen_meeting {
	struct scratch *s;
	struct task_struct *task;
};

static long foreseen_meet(uint32_t i, struct foreseen_meeting *m)
{
	if (i >= foreseen.n || i >= STATE_RECORD_FORESEEN_MAX)
		return 1;
	m->s->walk.map.start = m->s->walk.map.end = 0; /* not what was there before */
	if (walk_map(&m->s->walk, foreseen.at[i]))
		sums_want_image(m->s, m->task);
	return 0;
}

SEC("iter/task")
int foresee(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct scratch *s = taking_scratch(0);
	struct foreseen_meeting m = { .s = s, .task = task };

	if (!task || !s || task->pid != (int)foreseen.pid)
		return 0;
	s->walk.mm = (uint64_t)kernel_task(task)->mm;
	bpf_loop(STATE_RECORD_FORESEEN_MAX, foreseen_meet, &m, 0);
	return 0;
}

#endif
