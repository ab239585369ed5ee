/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_flow.h"

#include "decode/x86_op.h"

/* By the reg field of 0xff. */
static const uint8_t group5[8] = {
	[2] = X86_FLOW_CALL_TO,
	[3] = X86_FLOW_FAR,
	[4] = X86_FLOW_JUMP_TO,
	[5] = X86_FLOW_FAR,
};

static enum x86_flow of_one(const struct x86_op *op)
{
	switch (op->opcode) {
	case 0x70 ... 0x7f:
		return X86_FLOW_CONDITIONAL;
	case 0xe0 ... 0xe3:
		return X86_FLOW_LOOP;
	case 0xe8:
		return X86_FLOW_CALL;
	case 0xe9:
	case 0xeb:
		return X86_FLOW_JUMP;
	case 0xc2:
	case 0xc3:
		return X86_FLOW_RETURN;
	case 0xff:
		return group5[op->reg & 7];
	case 0xc7:
		return op->reg == 7 && op->mod == 3 && op->rm == 0 ? X86_FLOW_TRANSACTION
								   : X86_FLOW_ON;
	case 0xca:
	case 0xcb:
	case 0xcf:
		return X86_FLOW_FAR;
	case 0xcd:
		return op->imm == (int8_t)0x80 ? X86_FLOW_INT80 : X86_FLOW_TRAP;
	case 0xcc:
	case 0xf1:
		return X86_FLOW_TRAP;
	case 0xf4:
		return X86_FLOW_NEVER;
	default:
		return X86_FLOW_ON;
	}
}

static enum x86_flow of_0f(uint8_t opcode)
{
	switch (opcode) {
	case 0x80 ... 0x8f:
		return X86_FLOW_CONDITIONAL;
	case 0x05:
		return X86_FLOW_SYSCALL;
	case 0x34: /* sysenter: of 32 bits */
	case 0x0b:
	case 0xb9:
	case 0xff:
		return X86_FLOW_NEVER;
	default:
		return X86_FLOW_ON;
	}
}

enum x86_flow x86_flow_of(const struct x86_op *op)
{
	if (op->is_vector || op->map > X86_OP_0F)
		return X86_FLOW_ON;
	return op->map == X86_OP_ONE ? of_one(op) : of_0f(op->opcode);
}
