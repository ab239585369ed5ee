/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * apart - which processes are told apart from others of their name, executable and
 * cgroup.
 *
 * All, none, or those of executables that the collector has chosen.  Until it has looked
 * at one, its processes are told apart: the collector makes them one where they are to
 * be.
 */
#ifndef DWELL_COLLECT_BPF_APART_BPF_H
#define DWELL_COLLECT_BPF_APART_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/mapping.bpf.h"
#include "wire/stack_rows.h"

/* Set before loading. */
const volatile bool has_processes = false; /* all that there are */
const volatile bool has_choice = false;	   /* some of them */

/* By the slot of an image, STACK_ROWS_VERDICT() of its number. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, uint64_t);
} apart_images SEC(".maps");

/* One that ends has given its executable away: the collector knows which it was. */
static __always_inline bool apart_is_chosen(struct task_struct *task)
{
	struct mm_struct *mm = kernel_task(task)->mm;
	struct file *file;
	uint32_t image, slot;
	uint64_t *verdict;

	if (task->flags & PF_KTHREAD)
		return false;
	file = mm ? KERNEL_READ(struct mm_struct, mm, exe_file) : NULL;
	if (!file)
		return true;
	image = mapping_image(file);
	slot = STACK_ROWS_SLOT(image);
	verdict = bpf_map_lookup_elem(&apart_images, &slot);
	return !verdict || *verdict != STACK_ROWS_VERDICT(image, false);
}

static __always_inline bool apart_process(struct task_struct *task)
{
	return has_choice ? apart_is_chosen(task) : has_processes;
}

#endif
