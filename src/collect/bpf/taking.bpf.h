/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * taking - what every program does with a stack: takes it, and tells what it stands for.
 *
 * The rings are described in wire/stack_record.h.  Programs that take stacks run with
 * interrupts off, so that none finds another's scratch in use.
 */
#ifndef DWELL_COLLECT_BPF_TAKING_BPF_H
#define DWELL_COLLECT_BPF_TAKING_BPF_H

#include "collect/bpf/apart.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/path.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "collect/bpf/walk.bpf.h"
#include "wire/stack_record.h"

/* Set before loading. */
const volatile bool is_flat = false;		       /* the innermost frame only */
const volatile uint32_t depth = STACK_RECORD_USER_MAX; /* frames of user code */
const volatile bool has_threads = false;	       /* threads are told apart */
const volatile bool has_cpus = false;		       /* so is where they were taken */
const volatile uint32_t wake_bytes = 1; /* of a ring: the collector is woken */

struct ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__array(values, struct ring);
} rings SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct stack_record_stats);
} stats SEC(".maps");

struct scratch {
	struct walk walk;
	struct stack_record_image image;
	uint32_t next_way;
	uint32_t spare_sum; /* a number that could not be told; 0: none */
	uint32_t found_sum; /* that sums_find() returned last */
};

/* Which is for programs that run with interrupts off, and which for others. */
enum taking_which { TAKING_ALONE, TAKING_PREEMPTED };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2);
	__type(key, uint32_t);
	__type(value, struct scratch);
} scratches SEC(".maps");

static __always_inline struct scratch *taking_scratch(uint32_t which)
{
	return bpf_map_lookup_elem(&scratches, &which);
}

static __always_inline uint64_t taking_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * WALK_HASH_FACTOR;
	return hash ^ hash >> 29;
}

/* A process has the name of its first thread.  By plain loads, as KERNEL_READ. */
static __always_inline void taking_name(const struct task_struct *task, char to[16])
{
	const uint64_t *from = (const uint64_t *)&task->comm;

	((uint64_t *)to)[0] = from[0];
	((uint64_t *)to)[1] = from[1];
}

static __always_inline uint64_t taking_hash_name(const struct task_struct *task)
{
	const uint64_t *from = (const uint64_t *)&task->comm;

	return taking_mix(taking_mix(0, from[0]), from[1]);
}

static __always_inline uint64_t taking_cgroup(const struct task_struct *task)
{
	return kernel_task(task)->cgroups->dfl_cgrp->kn->id;
}

static __always_inline void taking_begin(struct walk *w, struct mm_struct *mm,
					 uint64_t pc, uint32_t depth_max)
{
	w->mm = (uint64_t)mm;
	w->pc = pc;
	w->map.start = w->map.end = 0;
	w->is_exact = walk_begins_exact(w);
	w->landing.n = 0;
	w->returns = 0;
	w->depth_max = depth_max;
}

/* Where walks begin at several places a step is verified by itself, once; it takes 32
 * bytes more of the 512 for all frames, which others have not left. */
#ifdef TAKING_HAS_PLACES
#define TAKING_STEP __noinline
#else
#define TAKING_STEP static __always_inline
#endif

/* One frame; 1 ends the walk. */
TAKING_STEP int taking_frame(struct walk *w)
{
	return !w || (walk_one(w) && !walk_back(w));
}

static long taking_step(uint32_t i __attribute__((unused)), struct walk **ctx)
{
	int is_over = taking_frame(*ctx);

	barrier_var(is_over); /* the verifier does not see what it may be */
	return is_over != 0;
}

/* The innermost frame alone. */
static __always_inline void taking_place(struct scratch *s, struct mm_struct *mm,
					 uint64_t pc)
{
	struct walk *w = &s->walk;

	taking_begin(w, mm, pc, 1);
	taking_step(0, &w);
	w->stop = STACK_STOP_END;
}

/* From the registers in the scratch. */
static __always_inline void taking_walk(struct scratch *s, struct mm_struct *mm)
{
	struct walk *w = &s->walk;
	bool is_32bit = registers_are_32bit(&w->registers);

	taking_begin(w, mm, registers_pc(&w->registers), is_32bit ? 1 : depth);
	w->sp = registers_sp(&w->registers);
	registers_saved(&w->registers, w->saved);
	w->is_saved = w->is_lost = 0;
	w->stop = STACK_STOP_LIMIT;
	bpf_loop(STACK_RECORD_USER_MAX + 1, taking_step, &w, 0);
	if (is_32bit)
		w->stop = STACK_STOP_32BIT;
}

/* The kernel's part of the stack is taken already. */
static __always_inline const void *
taking_user(struct scratch *s, struct task_struct *task, const struct registers *user)
{
	struct mm_struct *mm = kernel_task(task)->mm;
	const void *kept = (const void *)bpf_task_pt_regs(task);

	if (!mm || task->flags & PF_KTHREAD)
		return NULL;
	if (bpf_probe_read_kernel(&s->walk.registers, sizeof(s->walk.registers),
				  user ? (const void *)user : kept) ||
	    !registers_are_user(&s->walk.registers))
		return NULL;
	taking_walk(s, mm);
	return kept;
}

static __always_inline void taking_kernel(void *ctx, struct scratch *s, uint64_t skip)
{
	struct walk *w = &s->walk;
	long size =
		bpf_get_stack(ctx, w->record.frames, STACK_RECORD_KERNEL_MAX * 8, skip);

	w->n_kernel = size > 0 ? (uint32_t)size / 8 : 0;
	for (uint32_t i = 0; i < STACK_RECORD_KERNEL_MAX; i++) {
		if (i >= w->n_kernel)
			break;
		w->hash = taking_mix(w->hash, w->record.frames[i]);
	}
}

static __always_inline bool taking_put(void *ring, void *data, uint64_t size,
				       bool is_urgent)
{
	uint64_t flags = BPF_RB_NO_WAKEUP;

	if (is_urgent || bpf_ringbuf_query(ring, 0) >= wake_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	return bpf_ringbuf_output(ring, data, size, flags) == 0;
}

/* The file that the process was started from; who that is is asked for as well. */
static __always_inline uint32_t taking_executable(struct walk *w,
						  struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct file *file = mm ? BPF_CORE_READ(mm, exe_file) : NULL;
	struct mapping m = { .file = (uint64_t)file };
	struct stack_image *image;
	uint32_t slot;

	if (!file)
		return STACK_RECORD_UNMAPPED;
	m.image = mapping_image(file);
	slot = STACK_ROWS_SLOT(m.image);
	image = m.image ? bpf_map_lookup_elem(&images, &slot) : NULL;
	if (image) {
		walk_want(w, image, &m);
		if (!(image->is_used & STACK_IMAGE_IS_MET))
			image->is_used |= STACK_IMAGE_IS_MET;
	}
	return m.image;
}

static __always_inline uint8_t taking_flags(struct task_struct *task)
{
	uint8_t flags = (apart_process(task) ? STACK_RECORD_IS_PROCESS : 0) |
			(has_threads ? STACK_RECORD_IS_THREAD : 0);

	if (bpf_core_field_exists(task->in_execve) &&
	    BPF_CORE_READ_BITFIELD_PROBED(task, in_execve))
		flags |= STACK_RECORD_IS_EXEC;
	return flags;
}

/* Tell what the key stands for: its frames behind each other. */
static __always_inline bool taking_put_stack(void *ring, struct scratch *s,
					     struct task_struct *task, uint32_t filled)
{
	struct stack_record *r = &s->walk.record;
	uint64_t size, flags = BPF_RB_NO_WAKEUP;

	r->kind = STACK_RECORD_STACK;
	r->table = filled;
	r->cpu = has_cpus ? bpf_get_smp_processor_id() : STACK_RECORD_ANY_CPU;
	r->flags = taking_flags(task);
	r->exe = taking_executable(&s->walk, task);
	r->n_kernel = s->walk.n_kernel;
	r->n_user = s->walk.n;
	r->stop = s->walk.stop;
	size = __builtin_offsetof(struct stack_record, frames) +
	       8 * (s->walk.n_kernel + s->walk.n);
	if (size > sizeof(*r))
		size = sizeof(*r);
	if (bpf_ringbuf_query(ring, 0) >= wake_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	return bpf_ringbuf_output(ring, r, size, flags) == 0;
}

static __always_inline void taking_put_image(void *ring, struct scratch *s)
{
	struct stack_record_image *r = &s->image;
	struct walk *w = &s->walk;
	struct file *file = (void *)w->wanted_file;
	struct inode *inode;
	uint64_t size;

	if (!w->wanted_image)
		return;
	r->kind = STACK_RECORD_IMAGE;
	r->image = w->wanted_image;
	r->pid = s->walk.record.pid;
	r->start = w->wanted_start;
	r->end = w->wanted_end;
	r->file_offset = w->wanted_offset;
	r->inode = 0;
	r->path_bytes = 0;
	if (file) {
		inode = BPF_CORE_READ(file, f_inode);
		r->inode = BPF_CORE_READ(inode, i_ino);
		r->device = BPF_CORE_READ(inode, i_sb, s_dev);
		r->generation = BPF_CORE_READ(inode, i_generation);
		path_read(r, file);
	}
	size = __builtin_offsetof(struct stack_record_image, path) + r->path_bytes;
	if (size > sizeof(*r))
		size = sizeof(*r);
	if (!taking_put(ring, r, size, true))
		walk_want_again(w);
	w->wanted_image = 0;
}

#endif
