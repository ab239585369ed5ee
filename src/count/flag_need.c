/* SPDX-License-Identifier: Apache-2.0 */
#include "count/flag_need.h"

#include "count/block.h"
#include "count/engine.h"
#include "decode/x86_flags.h"

/* How far is looked ahead: branches, and instructions from each. */
#define DEPTH 3
#define AHEAD 12

/* Flags behind what goes somewhere that nobody knows: none by all conventions. */
static uint8_t beyond(void)
{
	return engine.is_strict ? X86_FLAGS_ALL : 0;
}

/* Of some flags, those that are needed from addr on. */
static uint8_t needed(uint64_t addr, uint8_t of, unsigned depth)
{
	uint8_t found = 0;

	for (unsigned i = 0; of; i++) {
		struct x86_op op;
		struct x86_flags flags;
		uint64_t target;

		if (i == AHEAD || !block_read_op(addr, &op))
			return found | of;
		flags = x86_flags_of(&op);
		found |= flags.read & of;
		of &= (uint8_t) ~(flags.read | flags.set);
		addr += op.size;
		target = addr + (uint64_t)op.imm;
		switch (x86_flow_of(&op)) {
		case X86_FLOW_ON:
			break;
		case X86_FLOW_CONDITIONAL:
		case X86_FLOW_LOOP:
			if (!depth)
				return found | of;
			found |= needed(target, of, depth - 1);
			of &= (uint8_t)~found;
			break;
		case X86_FLOW_JUMP:
		case X86_FLOW_CALL:
			if (!depth--)
				return found | of;
			addr = target;
			break;
		case X86_FLOW_JUMP_TO:
		case X86_FLOW_CALL_TO:
		case X86_FLOW_RETURN:
			return found | (of & beyond());
		default:
			return found | of;
		}
	}
	return found;
}

bool flag_need_at(uint64_t addr)
{
	return needed(addr, X86_FLAGS_ALL, DEPTH);
}

/* Behind the last instruction. */
static uint8_t needed_behind(const struct block *b)
{
	switch (b->flow) {
	case X86_FLOW_ON:
		return needed(b->end, X86_FLAGS_ALL, DEPTH - 1);
	case X86_FLOW_CONDITIONAL:
	case X86_FLOW_LOOP:
	case X86_FLOW_TRANSACTION:
		return needed(b->target, X86_FLAGS_ALL, DEPTH - 1) |
		       needed(b->end, X86_FLAGS_ALL, DEPTH - 1);
	case X86_FLOW_JUMP:
	case X86_FLOW_CALL:
		return needed(b->target, X86_FLAGS_ALL, DEPTH - 1);
	case X86_FLOW_JUMP_TO:
	case X86_FLOW_CALL_TO:
	case X86_FLOW_RETURN:
		return beyond();
	default:
		return X86_FLAGS_ALL;
	}
}

int flag_need_free_place(const struct block *b)
{
	uint8_t now = 0;
	int first = -1;

	if (!b->n)
		return -1;
	now = needed_behind(b);
	for (unsigned i = b->n; i-- > 0;) {
		struct x86_flags flags = x86_flags_of(&b->ops[i]);

		now = (uint8_t)((now & ~flags.set) | flags.read);
		if (!now)
			first = (int)i;
	}
	return first;
}
