/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/stack_delta.h"

static void set_exact(struct stack_delta_frames *f, size_t i, bool is_exact)
{
	uint8_t bit = (uint8_t)(1 << (i % 8));

	f->exact[i / 8] =
		(uint8_t)(is_exact ? f->exact[i / 8] | bit : f->exact[i / 8] & ~bit);
}

void stack_delta_drop(struct stack_delta_frames *f, uintptr_t lo, uintptr_t hi)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		if (f->pcs[i] >= lo && f->pcs[i] < hi)
			continue;
		if (n != i) {
			f->pcs[n] = f->pcs[i];
			set_exact(f, n, stack_delta_is_exact(f, i));
		}
		n++;
	}
	f->n = n;
}

uint32_t stack_delta_shared(const struct stack_delta_frames *a,
			    const struct stack_delta_frames *b)
{
	uint32_t n = 0, max = a->n < b->n ? a->n : b->n;

	while (n < max) {
		uint32_t i = a->n - 1 - n, k = b->n - 1 - n;

		if (a->pcs[i] != b->pcs[k] ||
		    stack_delta_is_exact(a, i) != stack_delta_is_exact(b, k))
			break;
		n++;
	}
	return n;
}

/* User space needs 57 bits; more would leave no room for the flag. */
#define PC_MASK (UINT64_C(0x3fffffffffffffff))

static uint8_t *put_uleb(uint8_t *at, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		*at++ = (uint8_t)(v | 0x80);
	*at++ = (uint8_t)v;
	return at;
}

size_t stack_delta_encode(const struct stack_delta_frames *f, uint32_t n_shared,
			  uint8_t *ret)
{
	uint8_t *at = ret;
	uint64_t previous = 0;

	for (uint32_t i = 0; i + n_shared < f->n; i++) {
		uint64_t pc = f->pcs[i] & PC_MASK;
		int64_t delta = (int64_t)(pc - previous);
		uint64_t zigzag = (uint64_t)delta << 1 ^ (uint64_t)(delta >> 63);

		at = put_uleb(at, zigzag << 1 | stack_delta_is_exact(f, i));
		previous = pc;
	}
	return (size_t)(at - ret);
}
