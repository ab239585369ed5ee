/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * objects - which data of a program is at an address.
 *
 * Told as code is: by its file and an offset in that, or by its address.  Memory right
 * behind a mapping of a file may be its data, too, as far as that is not in the file: how
 * far that is, the programs do not know at once, and tell both; or where nothing has an
 * address, what they know by then.
 */
#ifndef DWELL_COLLECT_BPF_OBJECTS_BPF_H
#define DWELL_COLLECT_BPF_OBJECTS_BPF_H

#include "collect/bpf/calls.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/mapping.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "collect/bpf/walk.bpf.h"

/* Set before loading: what is of no file has its address. */
const volatile bool has_addresses = true;

/* A file's own data, of which the process has a copy; shared memory has no variables. */
static __always_inline bool objects_is_data(const struct mapping *m)
{
	struct vm_area_struct *vma = (void *)m->vma;
	uint64_t flags = BPF_CORE_READ(vma, vm_flags);

	return m->file && m->image && !(flags & VM_SHARED);
}

/* What is mapped there is of a file, or is behind one.  By value, as the next call of
 * mapping_at() may change what it returned; own: as there. */
static __always_inline bool objects_map(struct mm_struct *mm, uint64_t address,
					struct mapping *own, struct mapping *ret)
{
	struct mapping *m = mapping_at(mm, address, own);
	uint64_t start;

	if (!m)
		return false;
	*ret = *m;
	if (objects_is_data(ret))
		return true;
	start = ret->start;
	if (ret->file || !start)
		return false;
	m = mapping_at(mm, start - 1, own);
	if (!m || m->end != start)
		return false;
	*ret = *m;
	return objects_is_data(ret);
}

/* Is what is behind a mapping its file's data?  Until that was looked at, yes. */
static __always_inline bool objects_goes_on(const struct mapping *m, uint64_t offset)
{
	uint32_t slot = STACK_ROWS_SLOT(m->image), state;
	struct stack_image *image = bpf_map_lookup_elem(&images, &slot);

	if (!image)
		return false;
	/* Where its data ends is told before its rules. */
	state = *(volatile uint32_t *)&image->state;
	if (!image->data_end)
		return state == STACK_IMAGE_NEW || state == STACK_IMAGE_REQUESTED;
	return offset < image->data_end;
}

/* The file is to be told, as no code of it may be in any stack. */
static __always_inline void objects_want(struct scratch *s, struct task_struct *task,
					 const struct mapping *m)
{
	uint32_t slot = STACK_ROWS_SLOT(m->image);
	struct stack_image *image = bpf_map_lookup_elem(&images, &slot);

	if (!image)
		return;
	s->walk.wanted_image = 0;
	walk_want(&s->walk, image, m);
	image->is_used = STACK_IMAGE_IS_USED | STACK_IMAGE_IS_MET;
	sums_want_image(s, task);
}

static __always_inline uint64_t objects_frame(uint64_t image, uint64_t offset)
{
	return image << STACK_RECORD_IMAGE_SHIFT | STACK_RECORD_EXACT |
	       (offset & STACK_RECORD_OFFSET);
}

/* own: NULL, or as mapping_at() has it. */
static __always_inline struct calls_object objects_find(struct scratch *s,
							struct task_struct *task,
							uint64_t address,
							struct mapping *own)
{
	uint64_t of_process =
		STACK_RECORD_ADDRESS | (address >> STACK_RECORD_OFFSET_BITS & 15);
	struct calls_object object = { .what = objects_frame(of_process, address),
				       .has_address = true };
	/* A number, which may be hashed, and no pointer that the verifier knows. */
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	struct mapping m;
	uint64_t in_file, offset;

	if (!address || !mm)
		return (struct calls_object){ 0 };
	if (!objects_map(mm, address, own, &m))
		return has_addresses ? object : (struct calls_object){ 0 };
	objects_want(s, task, &m);
	offset = address - m.start + m.offset;
	in_file = objects_frame(m.image, offset);
	if (address < m.end)
		return (struct calls_object){ .what = in_file };
	object.behind = in_file;
	if (has_addresses)
		return object;
	return (struct calls_object){ .what = objects_goes_on(&m, offset) ? in_file : 0 };
}

#endif
