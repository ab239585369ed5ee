/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * unopened - paths of what could not be opened: a number of each, which is told once.
 *
 * They are as the program gave them.  They are read when the call has failed: the kernel
 * has read them, so they are in memory.
 */
#ifndef DWELL_COLLECT_BPF_UNOPENED_BPF_H
#define DWELL_COLLECT_BPF_UNOPENED_BPF_H

#include "collect/bpf/files.bpf.h"
#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/sums.bpf.h"
#include "wire/io_record.h"

#define UNOPENED_KIND 1 /* in a key: where files have an address */
#define UNOPENED_HASH 0x9e3779b97f4a7c15ull

struct unopened_hashing {
	struct io_record_file *r;
	uint64_t n_words, hash;
};

static long unopened_mix(uint32_t i, struct unopened_hashing *h)
{
	if (i >= h->n_words || i >= STACK_RECORD_PATH_BYTES / 8)
		return 1;
	h->hash = (h->hash ^ ((const uint64_t *)h->r->file.path)[i]) * UNOPENED_HASH;
	h->hash ^= h->hash >> 29;
	return 0;
}

/* Of as many bytes, behind which there are eight zeros. */
static __always_inline uint64_t unopened_hash(struct io_record_file *r, uint32_t n)
{
	struct unopened_hashing h = { .r = r, .n_words = (n + 7) / 8, .hash = n };

	bpf_loop(STACK_RECORD_PATH_BYTES / 8, unopened_mix, &h, 0);
	return h.hash;
}

/* NULL: there is no path.  Otherwise its bytes are in the scratch of files. */
static __always_inline struct io_record_file *unopened_read(uint64_t at)
{
	uint32_t zero = 0;
	struct io_record_file *r = bpf_map_lookup_elem(&file_scratch, &zero);
	long n;

	if (!r)
		return NULL;
	n = bpf_probe_read_user_str(r->file.path, STACK_RECORD_PATH_BYTES,
				    (const void *)at);
	if (n <= 1 || n > STACK_RECORD_PATH_BYTES)
		return NULL;
	__builtin_memset(r->file.path + n, 0, 8);
	__builtin_memset(r, 0, __builtin_offsetof(struct io_record_file, file.path));
	r->file.path_bytes = (uint32_t)n;
	return r;
}

static __always_inline uint32_t unopened_add(struct io_record_file *r,
					     const struct files_key *key)
{
	uint32_t number = files_new_number(IO_RECORD_UNOPENED_MAX);
	uint64_t size =
		__builtin_offsetof(struct io_record_file, file.path) + r->file.path_bytes;
	void *ring = sums_ring();

	if (number >= IO_RECORD_UNOPENED_MAX)
		return IO_RECORD_UNNUMBERED;
	r->kind = STACK_RECORD_FILE;
	r->number = number;
	r->is_bare = 1;
	if (size > sizeof(*r))
		size = sizeof(*r);
	if (!ring || bpf_ringbuf_output(ring, r, size, BPF_RB_NO_WAKEUP))
		return IO_RECORD_UNTOLD;
	return files_enter(key, number);
}

/* The number of a path in the memory of the current thread.  Not static: verified by
 * itself, once. */
__noinline uint32_t unopened_number(uint64_t at)
{
	struct files_key key = { .kind = UNOPENED_KIND };
	struct io_record_file *r = unopened_read(at);
	struct files_found *found;
	uint32_t *known, number;

	if (!r)
		return IO_RECORD_NO_FILE;
	key.inode = unopened_hash(r, r->file.path_bytes);
	found = files_found_at(&key);
	if (!found)
		return IO_RECORD_UNTOLD;
	if (found->number && files_is_key(&found->key, &key))
		return found->number;
	known = bpf_map_lookup_elem(&file_numbers, &key);
	number = known ? *known : unopened_add(r, &key);
	files_note_found(found, &key, number);
	return number;
}

#endif
