/* SPDX-License-Identifier: Apache-2.0 */
#include "count/flag_need.h"

#include "count/block.h"
#include "count/engine.h"
#include "decode/x86_flags.h"

/* How far is looked ahead: branches, and instructions from each. */
#define DEPTH 3
#define AHEAD 16

/* Flags behind a call or return to where nobody knows: none by all conventions.  A jump
 * of that kind can be one of a function's own, from a comparison to who looks at it. */
static uint8_t beyond(void)
{
	return engine.is_strict ? X86_FLAGS_ALL : 0;
}

/* Of some flags, those that are needed from addr on; unknown: and those of them about
 * which nothing could be found.  Code that may change needs them all then: who looked at
 * it does not hear of that. */
static uint8_t look(uint64_t addr, uint8_t of, unsigned depth, uint8_t unknown)
{
	uint8_t found = 0;

	for (unsigned i = 0; of; i++) {
		struct x86_op op;
		struct x86_flags flags;
		uint64_t target;

		if (i == AHEAD || !block_read_op(addr, unknown, &op))
			return found | (of & unknown);
		/* It leaves them in a register, where nobody looks. */
		if (x86_flow_of(&op) == X86_FLOW_SYSCALL)
			return found | (of & unknown);
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
				return found | (of & unknown);
			found |= look(target, of, depth - 1, unknown);
			of &= (uint8_t)~found;
			break;
		case X86_FLOW_JUMP:
		case X86_FLOW_CALL:
			if (!depth--)
				return found | (of & unknown);
			addr = target;
			break;
		case X86_FLOW_CALL_TO:
		case X86_FLOW_RETURN:
			return found | (of & beyond() & unknown);
		default:
			return found | (of & unknown);
		}
	}
	return found;
}

static uint8_t needed(uint64_t addr)
{
	return look(addr, X86_FLAGS_ALL, DEPTH - 1, X86_FLAGS_ALL);
}

bool flag_need_at(uint64_t addr)
{
	return look(addr, X86_FLAGS_ALL, DEPTH, X86_FLAGS_ALL);
}

bool flag_need_is_sure(uint64_t addr)
{
	return look(addr, X86_FLAGS_ALL, DEPTH, 0);
}

/* Behind the last instruction. */
static uint8_t needed_behind(const struct block *b)
{
	switch (b->flow) {
	case X86_FLOW_ON:
		return needed(b->end);
	case X86_FLOW_CONDITIONAL:
	case X86_FLOW_LOOP:
	case X86_FLOW_TRANSACTION:
		return needed(b->target) | needed(b->end);
	case X86_FLOW_JUMP:
	case X86_FLOW_CALL:
		return needed(b->target);
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
