/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_insns.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "decode/x86_op.h"

static int by_block(const void *a, const void *b)
{
	const struct count_insns_leave *x = a, *y = b;

	return (x->block > y->block) - (x->block < y->block);
}

void count_insns_init(struct count_insns *c, const struct count_flow_input *in)
{
	*c = (struct count_insns){ 0 };
	for (size_t i = 0; i < in->n_extras; i++) {
		const struct count_file_extra *x = &in->extras[i];

		if (x->kind == COUNT_EXTRA_LEAVE && x->block && x->block < in->n_blocks)
			*vec_push(&c->leaves) = (struct count_insns_leave){
				.block = x->block,
				.off = x->addr - in->blocks[x->block].addr,
				.n = x->n,
			};
	}
	if (c->leaves.n)
		qsort(c->leaves.at, c->leaves.n, sizeof(*c->leaves.at), by_block);
}

void count_insns_fini(struct count_insns *c)
{
	vec_fini(&c->leaves);
	vec_fini(&c->offs);
}

/* The leaves of a block. */
static const struct count_insns_leave *leaves_of(const struct count_insns *c, uint32_t i,
						 size_t *ret_n)
{
	size_t low = search_split(c->leaves.n, k, c->leaves.at[k].block < i), end = low;

	while (end < c->leaves.n && c->leaves.at[end].block == i)
		end++;
	*ret_n = end - low;
	return *ret_n ? c->leaves.at + low : NULL;
}

/* What is known not to have come to off; sums of foreign numbers wrap. */
static uint64_t n_left(const struct count_insns_leave *leaves, size_t n, uint64_t off)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (leaves[i].off <= off)
			sum += leaves[i].n;
	return sum;
}

int64_t count_insns_begun(const struct count_insns *c, uint32_t i, int64_t entered)
{
	size_t n_leaves;
	const struct count_insns_leave *leaves = leaves_of(c, i, &n_leaves);

	return (int64_t)((uint64_t)entered - n_left(leaves, n_leaves, 0));
}

/* Instructions, where nobody knows where they begin: what left at once made none, and
 * what left later is taken to have left before the last. */
static uint64_t n_not_made(const struct count_insns_leave *leaves, size_t n,
			   const struct count_file_block *b)
{
	uint64_t at_once = n_left(leaves, n, 0);

	return at_once * (b->n_insns - 1u) + n_left(leaves, n, b->size_bytes - 1u);
}

/* Bytes of the instruction at off, 0: there is none, or it does not end in the block. */
static size_t insn_size(const struct count_file_block *b, const uint8_t *code, size_t off)
{
	uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
	size_t left = b->size_bytes - off;
	struct x86_op op;

	if (left >= sizeof(bytes))
		return x86_op_read(code + off, &op) ? op.size : 0;
	memcpy(bytes, code + off, left);
	return x86_op_read(bytes, &op) && op.size <= left ? op.size : 0;
}

/* Where each instruction begins; false: the code is another's. */
static bool find_insns(struct count_insns *c, const struct count_file_block *b,
		       const uint8_t *code)
{
	size_t off = 0, size;

	vec_clear(&c->offs);
	for (; off < b->size_bytes; off += size) {
		size = insn_size(b, code, off);
		if (!size)
			return false;
		*vec_push(&c->offs) = (uint16_t)off;
	}
	return c->offs.n == b->n_insns;
}

static void tell(uint64_t n, uint32_t off, count_insns_fn *fn, void *ctx)
{
	if ((int64_t)n > 0)
		fn(ctx, off, n);
}

bool count_insns_each(struct count_insns *c, uint32_t i, const struct count_file_block *b,
		      int64_t entered, const uint8_t *code, count_insns_fn *fn, void *ctx)
{
	size_t n_leaves;
	const struct count_insns_leave *leaves = leaves_of(c, i, &n_leaves);

	if (!code || !find_insns(c, b, code)) {
		tell((uint64_t)entered * b->n_insns - n_not_made(leaves, n_leaves, b), 0,
		     fn, ctx);
		return false;
	}
	vec_each(off, &c->offs)
		tell((uint64_t)entered - n_left(leaves, n_leaves, *off), *off, fn, ctx);
	return true;
}
