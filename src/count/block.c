/* SPDX-License-Identifier: Apache-2.0 */
#include "count/block.h"

#include <string.h>

#include "count/exec_range.h"

/* Memory for code may have come in pieces, and an instruction may be in two of them. */
static bool read_within(const struct exec_range *r, uint64_t addr, struct x86_op *ret)
{
	uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
	uint64_t left = r->end - addr;

	if (left < X86_OP_MAX_BYTES)
		left = exec_range_reach(r) - addr;
	if (left >= X86_OP_MAX_BYTES)
		return x86_op_read((const uint8_t *)addr, ret);
	memcpy(bytes, (const void *)addr, left);
	return x86_op_read(bytes, ret) && ret->size <= left;
}

bool block_read_op(uint64_t addr, bool is_to_last, struct x86_op *ret)
{
	const struct exec_range *r = exec_range_find(addr);

	if (!r || (is_to_last && (r->may_change || r->is_writable)))
		return false;
	return read_within(r, addr, ret);
}

void block_read(struct block *b, uint64_t addr)
{
	const struct exec_range *r = exec_range_find(addr);
	uint64_t at = addr;

	b->addr = addr;
	b->n = 0;
	b->flow = X86_FLOW_ON;
	b->target = 0;
	while (r && b->n < BLOCK_INSNS_MAX && b->flow == X86_FLOW_ON && at < r->end) {
		struct x86_op *op = &b->ops[b->n];

		if (!read_within(r, at, op))
			break;
		b->offs[b->n++] = (uint16_t)(at - addr);
		at += op->size;
		b->flow = x86_flow_of(op);
	}
	b->offs[b->n] = (uint16_t)(at - addr);
	b->end = at;
	if (b->flow >= X86_FLOW_CONDITIONAL && b->flow <= X86_FLOW_CALL)
		b->target = at + (uint64_t)b->ops[b->n - 1].imm;
}

/* But for a function's end, which has the frame's pointer. */
static bool sets_stack(const struct x86_op *op)
{
	bool is_register = op->mod == 3;

	if (op->map != X86_OP_ONE || op->is_vector)
		return false;
	switch (op->opcode) {
	case 0x89: /* mov %reg, %rsp */
		return is_register && op->rm == X86_OP_RSP && op->reg != X86_OP_RBP;
	case 0x8b: /* mov OPERAND, %rsp */
		return op->reg == X86_OP_RSP && (!is_register || op->rm != X86_OP_RBP);
	case 0x8d: /* lea OPERAND, %rsp */
		return op->reg == X86_OP_RSP && op->base != X86_OP_RSP &&
		       op->base != X86_OP_RBP;
	case 0x87: /* xchg */
		return op->reg == X86_OP_RSP || (is_register && op->rm == X86_OP_RSP);
	case 0x94:
		return !(op->rex & X86_OP_REX_B);
	case 0x5c: /* pop %rsp */
		return !(op->rex & X86_OP_REX_B);
	default:
		return false;
	}
}

bool block_sets_stack(const struct block *b)
{
	for (unsigned i = 0; i < b->n; i++)
		if (sets_stack(&b->ops[i]))
			return true;
	return false;
}
