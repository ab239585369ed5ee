/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * mapping - which file is mapped at an address of the current process.
 *
 * The kernel's tree of mappings is read as its own lockless lookups do: the programs run
 * with interrupts off, which keeps freed nodes in place, and what is found must hold the
 * address and be of the process.  What was found is kept per CPU and believed again only
 * while the kernel's own record of the mapping says the same.
 */
#ifndef DWELL_COLLECT_BPF_MAPPING_BPF_H
#define DWELL_COLLECT_BPF_MAPPING_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "wire/stack_record.h"
#include "wire/stack_rows.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

enum maple_type {
	maple_dense = 0,
	maple_leaf_64 = 1,
	maple_range_64 = 2,
	maple_arange_64 = 3,
};

struct maple_range_64 {
	unsigned long pivot[15];
	void *slot[16];
};

struct maple_arange_64 {
	unsigned long pivot[9];
	void *slot[10];
};

#pragma clang attribute pop

#define MAPPING_DEPTH_MAX  8
#define MAPPING_CACHE_SETS 1024 /* per CPU, a power of two */
#define MAPPING_NODE_MASK  255
/* A root that is a node has these low bits, and is no small number. */
#define MAPPING_ROOT_BITS  2
#define MAPPING_NODE_MIN   4096
#define MAPPING_TYPE_SHIFT 3
#define MAPPING_TYPE_MASK  15

#define MAPPING_READ(vma, member) KERNEL_READ(struct vm_area_struct, vma, member)

/* Set before loading: the kernel counts pages. */
const volatile uint32_t page_shift = 12;

struct mapping {
	uint64_t mm, vma;
	uint64_t start, end;
	uint64_t file;	 /* struct file *, 0: none */
	uint64_t offset; /* of start in the file */
	uint64_t is_code;
	uint32_t image; /* STACK_RECORD_UNMAPPED: no file */
	uint32_t zero;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, MAPPING_CACHE_SETS);
	__type(key, uint32_t);
	__type(value, struct mapping);
} mapping_cache SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, STACK_ROWS_IMAGES_MAX);
	__type(key, struct stack_rows_file);
	__type(value, uint32_t);
} mapping_files SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STACK_ROWS_IMAGES_MAX);
	__type(key, uint32_t);
	__type(value, struct stack_image);
} images SEC(".maps");

/* The first number that no file had yet. */
uint32_t mapping_next_image = STACK_RECORD_FILES;

/* Numbers that may be given again: the collector writes them one behind the other. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, STACK_ROWS_IMAGES_MAX);
	__type(key, uint32_t);
	__type(value, uint64_t);
} mapping_offers SEC(".maps");

uint32_t mapping_n_offered = 0, mapping_n_taken = 0;
uint32_t mapping_n_unnumbered = 0; /* times that there was none */
#define MAPPING_TRIES 4		   /* CPUs take numbers at the same time */

/* The first pivot that is not below addr; unused ones are 0. */
static __always_inline uint32_t mapping_slot(const unsigned long *pivots, uint32_t n,
					     uint64_t addr)
{
	uint32_t at = n;

	for (uint32_t i = n; i-- > 0;)
		if (pivots[i] >= addr || (i && !pivots[i]))
			at = i;
	return at;
}

/* The child of a node, or the mapping in a leaf. */
__noinline uint64_t mapping_descend(uint64_t entry, uint64_t addr)
{
	uint64_t node = entry & ~(uint64_t)MAPPING_NODE_MASK, slot = 0;
	uint32_t type = entry >> MAPPING_TYPE_SHIFT & MAPPING_TYPE_MASK, at;
	unsigned long pivots[15];

	if (type == bpf_core_enum_value(enum maple_type, maple_arange_64)) {
		const struct maple_arange_64 *n = (const void *)node;

		if (bpf_probe_read_kernel(pivots, 9 * 8, &n->pivot))
			return 0;
		at = mapping_slot(pivots, 9, addr);
		bpf_probe_read_kernel(&slot, 8, (const char *)&n->slot + 8 * at);
	} else {
		const struct maple_range_64 *n = (const void *)node;

		if (bpf_probe_read_kernel(pivots, sizeof(pivots), &n->pivot))
			return 0;
		at = mapping_slot(pivots, 15, addr);
		bpf_probe_read_kernel(&slot, 8, (const char *)&n->slot + 8 * at);
	}
	return slot;
}

static __always_inline bool mapping_is_root(uint64_t entry)
{
	return (entry & 3) == MAPPING_ROOT_BITS && entry > MAPPING_NODE_MIN;
}

static __always_inline bool mapping_is_leaf(uint64_t entry)
{
	return (entry >> MAPPING_TYPE_SHIFT & MAPPING_TYPE_MASK) <=
	       bpf_core_enum_value(enum maple_type, maple_leaf_64);
}

/* struct vm_area_struct * at addr, or 0. */
static __always_inline uint64_t mapping_find_vma(struct mm_struct *mm, uint64_t addr)
{
	uint64_t entry = (uint64_t)BPF_CORE_READ(mm, mm_mt.ma_root);

	if (!mapping_is_root(entry))
		return entry; /* a tree of one */
	for (uint32_t depth = 0; depth < MAPPING_DEPTH_MAX; depth++) {
		bool is_leaf = mapping_is_leaf(entry);

		entry = mapping_descend(entry, addr);
		if (is_leaf)
			return entry;
		if (entry <= MAPPING_NODE_MIN)
			return 0;
	}
	return 0;
}

/* Freed records keep what they say, and the next process may get the same mm: what was
 * found there is to be believed only while the record is in use. */
static __always_inline bool mapping_is_in_use(struct vm_area_struct *vma)
{
	struct vm_area_struct___6_4 *older = (void *)vma;

	if (bpf_core_field_exists(vma->vm_refcnt))
		return MAPPING_READ(vma, vm_refcnt.refs.counter) != 0;
	if (bpf_core_field_exists(older->detached))
		return !BPF_CORE_READ(older, detached);
	return false;
}

static __always_inline bool mapping_is_current(const struct mapping *m)
{
	struct vm_area_struct *vma = (void *)m->vma;

	return mapping_is_in_use(vma) && MAPPING_READ(vma, vm_start) == m->start &&
	       MAPPING_READ(vma, vm_end) == m->end &&
	       (uint64_t)MAPPING_READ(vma, vm_mm) == m->mm &&
	       (uint64_t)MAPPING_READ(vma, vm_file) == m->file &&
	       (m->image == STACK_RECORD_VDSO ||
		MAPPING_READ(vma, vm_pgoff) << page_shift == m->offset);
}

/* One that was given before; 0: there is none. */
__noinline uint32_t mapping_take_offer(void)
{
	for (uint32_t i = 0; i < MAPPING_TRIES; i++) {
		uint32_t at = mapping_n_taken, slot = at % STACK_ROWS_IMAGES_MAX;
		uint64_t *offer;

		if (at == mapping_n_offered)
			return 0;
		offer = bpf_map_lookup_elem(&mapping_offers, &slot);
		if (!offer)
			return 0;
		if (__sync_val_compare_and_swap(&mapping_n_taken, at, at + 1) == at)
			return (uint32_t)*offer;
	}
	return 0;
}

static __always_inline uint32_t mapping_add_file(const struct stack_rows_file *key)
{
	uint32_t image = STACK_ROWS_IMAGES_MAX, *known;

	if (mapping_next_image < STACK_ROWS_IMAGES_MAX)
		image = __sync_fetch_and_add(&mapping_next_image, 1);
	if (image >= STACK_ROWS_IMAGES_MAX)
		image = mapping_take_offer();
	if (!image) {
		__sync_fetch_and_add(&mapping_n_unnumbered, 1);
		return STACK_RECORD_UNMAPPED;
	}
	if (!bpf_map_update_elem(&mapping_files, key, &image, BPF_NOEXIST))
		return image;
	known = bpf_map_lookup_elem(&mapping_files, key); /* another CPU was first */
	return known ? *known : STACK_RECORD_UNMAPPED;
}

/* Is the number still its file's? */
static __always_inline bool mapping_is_numbered(const struct mapping *m)
{
	uint32_t slot = STACK_ROWS_SLOT(m->image);
	struct stack_image *image = bpf_map_lookup_elem(&images, &slot);

	return image && image->generation == STACK_ROWS_GENERATION(m->image);
}

static __always_inline uint32_t mapping_image(struct file *file)
{
	struct inode *inode = KERNEL_READ(struct file, file, f_inode);
	struct super_block *fs = KERNEL_READ(struct inode, inode, i_sb);
	struct stack_rows_file key = {
		.inode = KERNEL_READ(struct inode, inode, i_ino),
		.device = KERNEL_READ(struct super_block, fs, s_dev),
		.generation = KERNEL_READ(struct inode, inode, i_generation),
	};
	uint32_t *known = bpf_map_lookup_elem(&mapping_files, &key);

	return known ? *known : mapping_add_file(&key);
}

/* Fill in what is mapped at addr; false when nothing is. */
static __always_inline bool mapping_read(struct mapping *m, struct mm_struct *mm,
					 uint64_t addr)
{
	struct vm_area_struct *vma = (void *)mapping_find_vma(mm, addr);

	if (!vma)
		return false;
	m->mm = (uint64_t)mm;
	m->vma = (uint64_t)vma;
	m->start = BPF_CORE_READ(vma, vm_start);
	m->end = BPF_CORE_READ(vma, vm_end);
	if (addr < m->start || addr >= m->end || BPF_CORE_READ(vma, vm_mm) != mm) {
		m->vma = 0;
		return false;
	}
	m->is_code = BPF_CORE_READ(vma, vm_flags) & VM_EXEC;
	m->file = (uint64_t)BPF_CORE_READ(vma, vm_file);
	m->offset = (uint64_t)BPF_CORE_READ(vma, vm_pgoff) << page_shift;
	m->image = STACK_RECORD_UNMAPPED;
	if (m->file) {
		m->image = mapping_image((struct file *)m->file);
	} else if ((uint64_t)BPF_CORE_READ(mm, context.vdso) == m->start) {
		m->image = STACK_RECORD_VDSO;
		m->offset = 0;
	}
	return true;
}

/* What is mapped at addr, or NULL; good until the next call.  own: whose programs may be
 * preempted share nothing that is kept per CPU; NULL: they are not. */
static __always_inline struct mapping *mapping_at(struct mm_struct *mm, uint64_t addr,
						  struct mapping *own)
{
	uint32_t key = ((addr >> 16) ^ ((uint64_t)mm >> 6)) & (MAPPING_CACHE_SETS - 1);
	struct mapping *m = own ? own : bpf_map_lookup_elem(&mapping_cache, &key);

	if (!m)
		return NULL;
	if (own)
		m->vma = 0;
	if (m->vma && m->mm == (uint64_t)mm && addr >= m->start && addr < m->end &&
	    mapping_is_numbered(m) && mapping_is_current(m))
		return m;
	return mapping_read(m, mm, addr) ? m : NULL;
}

#endif
