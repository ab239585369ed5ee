/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "decode/x86_op.h"

#define WORD_BYTES sizeof(uint64_t)
#define PAGE_BYTES 4096u
/* Functions that call nothing have their variables below the end of the stack. */
#define RED_ZONE_BYTES 128u
#define STACK_BYTES    4096u
/* A register points to the middle of a structure, if not to its beginning. */
#define NEAR_BELOW_BYTES 128u
#define NEAR_BYTES	 512u

void anchor_words_fini(struct anchor_words *w)
{
	vec_fini(&w->areas);
	vec_fini(&w->values);
}

void anchor_words_clear(struct anchor_words *w)
{
	vec_clear(&w->areas);
	vec_clear(&w->values);
}

/* Choosing. */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void add(struct anchor_words *w, uint64_t start, uint64_t end)
{
	start -= start % WORD_BYTES;
	for (uint64_t next; start < end; start = next) {
		next = start - start % PAGE_BYTES + PAGE_BYTES;
		next = next < end ? next : end;
		*vec_push(&w->areas) = (struct anchor_words_area){
			.addr = start,
			.n = (next - start + WORD_BYTES - 1) / WORD_BYTES,
		};
	}
}

/* In the page that it points into: whether others are there nobody knows. */
static void add_near(struct anchor_words *w, uint64_t addr)
{
	uint64_t page = addr - addr % PAGE_BYTES, end = addr + NEAR_BYTES;

	if (addr < PAGE_BYTES || end < addr)
		return;
	add(w, later(page, addr - NEAR_BELOW_BYTES),
	    end < page + PAGE_BYTES ? end : page + PAGE_BYTES);
}

static int by_addr(const void *a, const void *b)
{
	const struct anchor_words_area *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static uint64_t end_of(const struct anchor_words_area *x)
{
	return x->addr + x->n * WORD_BYTES;
}

/* What is in several is in the first one only. */
static void set_apart(struct anchor_words *w)
{
	size_t n = 0;
	uint64_t end = 0;

	if (w->areas.n)
		qsort(w->areas.at, w->areas.n, sizeof(*w->areas.at), by_addr);
	vec_each(x, &w->areas) {
		uint64_t start = later(x->addr, end);

		if (start >= end_of(x))
			continue;
		end = end_of(x);
		w->areas.at[n++] =
			(struct anchor_words_area){ .addr = start,
						    .n = (end - start) / WORD_BYTES };
	}
	w->areas.n = n;
}

/* Reading. */

static void take(struct anchor_words *w, pid_t pid)
{
	size_t n = 0;

	vec_clear(&w->values);
	vec_each(x, &w->areas) {
		size_t bytes = x->n * WORD_BYTES, first = w->values.n;
		struct iovec here = { .iov_len = bytes },
			     there = { (void *)x->addr, bytes };

		vec_reserve(&w->values, first + x->n);
		here.iov_base = w->values.at + first;
		if (process_vm_readv(pid, &here, 1, &there, 1, 0) != (ssize_t)bytes)
			continue;
		w->values.n += x->n;
		w->areas.at[n++] = (struct anchor_words_area){ x->addr, first, x->n };
	}
	w->areas.n = n;
}

void anchor_words_take(struct anchor_words *w, const struct count_stand *stand,
		       const struct anchor_words_named *named)
{
	uint64_t stack = stand->native.regs[X86_OP_RSP];

	anchor_words_clear(w);
	if (stack > RED_ZONE_BYTES && stack + STACK_BYTES > stack)
		add(w, stack - RED_ZONE_BYTES, stack + STACK_BYTES);
	for (size_t i = 0; i < X86_OP_N_REGS; i++)
		add_near(w, stand->native.regs[i]);
	vec_each(x, &named->at)
		add(w, *x, *x + WORD_BYTES);
	set_apart(w);
	take(w, stand->tid);
}

void anchor_words_take_as(struct anchor_words *w, const struct anchor_words *other,
			  pid_t pid)
{
	anchor_words_clear(w);
	vec_each(x, &other->areas)
		*vec_push(&w->areas) = *x;
	take(w, pid);
}

bool anchor_words_find(const struct anchor_words *w, uint64_t addr, uint64_t *ret)
{
	size_t low = 0, high = w->areas.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct anchor_words_area *x = &w->areas.at[middle];

		if (addr < x->addr) {
			high = middle;
		} else if (addr >= end_of(x)) {
			low = middle + 1;
		} else {
			*ret = w->values.at[x->first + (addr - x->addr) / WORD_BYTES];
			return true;
		}
	}
	return false;
}

/* Naming. */

void anchor_words_name(struct anchor_words_named *to, const uint8_t *code, size_t bytes,
		       uint64_t addr)
{
	uint8_t last[X86_OP_MAX_BYTES];
	struct x86_op op;

	for (size_t i = 0; i < bytes; i += op.size) {
		size_t left = bytes - i;

		memset(last, 0, sizeof(last));
		memcpy(last, code + i, left < sizeof(last) ? left : sizeof(last));
		if (!x86_op_read(last, &op) || op.size > left)
			return;
		if (op.is_rip_relative)
			*vec_push(&to->at) =
				addr + i + op.size + (uint64_t)(int64_t)op.disp;
	}
}
