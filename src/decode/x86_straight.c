/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_straight.h"

#include "decode/x86_op.h"

static bool read_op(uint64_t addr, forward_code_fn *code, void *ctx, struct x86_op *ret)
{
	uint8_t bytes[FORWARD_CODE_BYTES] = { 0 };
	unsigned n = code(ctx, addr, bytes);

	return n && x86_op_read(bytes, ret) && ret->size <= n;
}

static bool is_conditional(enum x86_flow flow)
{
	return flow == X86_FLOW_CONDITIONAL || flow == X86_FLOW_LOOP;
}

bool x86_straight(uint64_t from, uint64_t to, forward_code_fn *code, void *ctx,
		  struct x86_straight *ret)
{
	ret->n = 0;
	for (unsigned i = 0; from < to && i < X86_STRAIGHT_MAX_INSNS; i++) {
		struct x86_op op;
		enum x86_flow flow;

		if (!read_op(from, code, ctx, &op))
			return false;
		flow = x86_flow_of(&op);
		if (!is_conditional(flow) && flow != X86_FLOW_ON)
			return false;
		if (is_conditional(flow)) {
			if (ret->n == X86_STRAIGHT_MAX)
				return false;
			ret->not_taken[ret->n++] =
				(struct x86_straight_branch){ from, from + op.size };
		}
		from += op.size;
	}
	return from == to;
}

bool x86_straight_flow(uint64_t addr, forward_code_fn *code, void *ctx,
		       enum x86_flow *ret)
{
	struct x86_op op;

	if (!read_op(addr, code, ctx, &op))
		return false;
	*ret = x86_flow_of(&op);
	return true;
}
