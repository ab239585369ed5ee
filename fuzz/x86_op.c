/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes, read as instructions: what is read has its parts within it, is told the same
 * whatever follows, and is as long as capstone finds it to be. */
#include <stdlib.h>
#include <string.h>

#include <capstone/capstone.h>

#include "decode/x86_flags.h"
#include "decode/x86_flow.h"
#include "decode/x86_op.h"
#include "decode/x86_writes.h"

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

static void check_parts(const struct x86_op *op)
{
	struct x86_flags flags = x86_flags_of(op);

	check(op->size >= 1 && op->size <= X86_OP_MAX_BYTES);
	check(op->reg < X86_OP_N_REGS && op->rm < X86_OP_N_REGS);
	check(op->base < X86_OP_N_REGS || op->base == X86_OP_NO_REG);
	check(op->modrm_off < op->size && op->disp_off < op->size);
	check(!op->is_rip_relative || op->disp_off + 4 <= op->size);
	check(!op->modrm_off || op->mod != 3 || !op->disp_off);
	check(!(flags.read & ~X86_FLAGS_ALL) && !(flags.set & ~X86_FLAGS_ALL));
	check(x86_flow_of(op) <= X86_FLOW_NEVER);
	(void)x86_writes(op);
}

static void check_what_follows(const uint8_t *bytes, const struct x86_op *op)
{
	uint8_t other[X86_OP_MAX_BYTES];
	struct x86_op again;

	memset(other, 0xff, sizeof(other));
	memcpy(other, bytes, op->size);
	check(x86_op_read(other, &again));
	check(again.size == op->size && again.map == op->map &&
	      again.opcode == op->opcode);
	check(again.modrm_off == op->modrm_off && again.disp_off == op->disp_off);
	check(again.imm == op->imm && again.disp == op->disp && again.rex == op->rex);
	check(again.reg == op->reg && again.rm == op->rm && again.base == op->base);
}

/* Where CPUs differ, the sizes of jumps and what has a ModRM byte to no end; and
 * where capstone 4 errs, a rounding mode between registers, which prefixes make an extrq,
 * and 66 with one that repeats behind it. */
static bool is_disputed(const struct x86_op *op)
{
	enum x86_flow flow = x86_flow_of(op);

	return flow == X86_FLOW_NEVER ||
	       ((op->has_66 || op->is_address_32) && flow != X86_FLOW_ON) ||
	       (op->is_vector && op->mod == 3) ||
	       (op->map == X86_OP_0F && op->opcode == 0x78 && !op->is_vector) ||
	       (op->map == X86_OP_ONE && op->has_66 && op->repeat);
}

static void check_size(csh cs, const uint8_t *bytes, const struct x86_op *op)
{
	cs_insn *insn;

	if (cs_disasm(cs, bytes, X86_OP_MAX_BYTES, 0, 1, &insn) != 1)
		return;
	check(insn->size == op->size || is_disputed(op));
	cs_free(insn, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static csh cs;

	if (!cs)
		check(cs_open(CS_ARCH_X86, CS_MODE_64, &cs) == CS_ERR_OK);
	for (size_t at = 0; at < size; at++) {
		uint8_t bytes[X86_OP_MAX_BYTES] = { 0 };
		size_t left = size - at;
		struct x86_op op;

		memcpy(bytes, data + at, left < sizeof(bytes) ? left : sizeof(bytes));
		if (!x86_op_read(bytes, &op))
			continue;
		check_parts(&op);
		check_what_follows(bytes, &op);
		check_size(cs, bytes, &op);
	}
	return 0;
}
