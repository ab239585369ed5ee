/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * asked - how many bytes an I/O call asks for, and how many were read or written.
 *
 * Most calls have it in an argument.  The lists that the others point to are read when
 * the call returns: they are in memory then.
 */
#ifndef DWELL_COLLECT_BPF_ASKED_BPF_H
#define DWELL_COLLECT_BPF_ASKED_BPF_H

#include "collect/bpf/kernel.bpf.h"
#include "collect/bpf/registers.bpf.h"
#include "wire/io_record.h"

#define ASKED_PARTS_MAX	   1024 /* the kernel takes no more */
#define ASKED_MESSAGES_MAX 1024

/* A list in the program's memory. */
struct asked_list {
	uint64_t at, n;
	uint64_t bytes;
	uint64_t done; /* of messages */
	bool is_32bit;
};

/* struct iovec: where a part is, and its size. */
static long asked_part(uint32_t i, struct asked_list *l)
{
	uint64_t bytes = 0, each = l->is_32bit ? 8 : 16;

	if (i >= l->n)
		return 1;
	if (bpf_probe_read_user(&bytes, l->is_32bit ? 4 : 8,
				(const void *)(l->at + i * each + each / 2)))
		return 1;
	l->bytes += bytes;
	return 0;
}

static __always_inline uint64_t asked_at_once(uint64_t bytes)
{
	return bytes < IO_RECORD_ASKED_MAX ? bytes : IO_RECORD_ASKED_MAX;
}

static __always_inline uint64_t asked_parts(uint64_t at, uint64_t n, bool is_32bit)
{
	struct asked_list l = { .at = at, .n = n, .is_32bit = is_32bit };

	if (n == 1)
		asked_part(0, &l);
	else
		bpf_loop(ASKED_PARTS_MAX, asked_part, &l, 0);
	return asked_at_once(l.bytes);
}

/* struct msghdr: an address and its size before the list and its length. */
static __always_inline uint64_t asked_message(uint64_t at, bool is_32bit)
{
	uint64_t list[2] = { 0 };
	uint32_t narrow[2] = { 0 };

	if (!is_32bit) {
		bpf_probe_read_user(list, sizeof(list), (const void *)(at + 16));
		return asked_parts(list[0], list[1], false);
	}
	bpf_probe_read_user(narrow, sizeof(narrow), (const void *)(at + 8));
	return asked_parts(narrow[0], narrow[1], true);
}

/* struct mmsghdr: a message, and how many bytes of it were done. */
static long asked_messages_next(uint32_t i, struct asked_list *l)
{
	uint64_t each = l->is_32bit ? 32 : 64, at = l->at + i * each;
	uint32_t done = 0;

	if (i >= l->n)
		return 1;
	l->bytes += asked_message(at, l->is_32bit);
	bpf_probe_read_user(&done, sizeof(done),
			    (const void *)(at + (l->is_32bit ? 28 : 56)));
	l->done += done;
	return 0;
}

/* Of a call that has returned; *done is what it returned, and then bytes.  Not static:
 * verified by itself, once. */
__noinline uint64_t asked_listed(uint32_t asks, uint64_t *done)
{
	struct task_struct *task = bpf_get_current_task_btf();
	const struct registers *r = registers_kept(task);
	bool is_32bit = registers_call_is_32bit(task);
	uint64_t second = registers_argument(r, 1, is_32bit);
	struct asked_list l = { .at = second, .is_32bit = is_32bit };

	if (!done)
		return 0;
	if (asks == IO_RECORD_ASKS_MESSAGES) {
		l.n = *done;
		bpf_loop(ASKED_MESSAGES_MAX, asked_messages_next, &l, 0);
		*done = l.done;
		return l.bytes;
	}
	if (asks == IO_RECORD_ASKS_MESSAGE)
		return asked_message(second, is_32bit);
	return asked_parts(second, registers_argument(r, 2, is_32bit), is_32bit);
}

static __always_inline uint64_t asked_bytes(const struct registers *r, uint32_t asks,
					    bool is_32bit, uint64_t *done)
{
	if (asks == IO_RECORD_ASKS_NONE)
		return 0;
	if (asks >= IO_RECORD_ASKS_PARTS)
		return asked_listed(asks, done);
	return asked_at_once(
		registers_argument(r, asks - IO_RECORD_ASKS_THIRD + 2, is_32bit));
}

#endif
