/* SPDX-License-Identifier: Apache-2.0 */
#include "count/detour.h"

#include <string.h>

#include "count/context.h"
#include "count/emit.h"
#include "decode/x86_op.h"

#define GS     0x65
#define FS     0x64
#define FAR_32 0x67 /* addresses have 32 bits */

#define SPILLED_BYTES 5 /* of a spill, in front of where it goes to */
#define MARK_BYTES    7
#define BEHIND_MARK   3 /* of it, what it tells */
#define EVEX_BYTES    5 /* with the opcode */

/* mov %reg, %gs:off: what the program itself has of that kind is never copied. */
static bool is_spill(const uint8_t *code, uint32_t off)
{
	return code[0] == GS && (code[1] & 0xfb) == 0x48 && code[2] == 0x89 &&
	       (code[3] & 0xc7) == 0x04 && code[4] == 0x25 &&
	       memcmp(code + SPILLED_BYTES, &off, sizeof(off)) == 0;
}

static unsigned spilled(const uint8_t *spill)
{
	return (unsigned)((spill[1] & 4) << 1 | (spill[3] >> 3 & 7));
}

static const uint8_t *behind_spills(const uint8_t *code)
{
	if (!is_spill(code, CONTEXT_SPILL0))
		return code;
	code += EMIT_SPILL_BYTES;
	return is_spill(code, CONTEXT_SPILL1) ? code + EMIT_SPILL_BYTES : code;
}

bool detour_read(const uint8_t *code, struct detour *ret)
{
	static const uint8_t nop[BEHIND_MARK] = { 0x0f, 0x1f, 0x80 };
	const uint8_t *mark = behind_spills(code);

	if (mark == code || memcmp(mark, nop, sizeof(nop)) != 0)
		return false;
	memcpy(ret, mark + BEHIND_MARK, sizeof(*ret));
	return true;
}

void detour_undo(const uint8_t *start, const uint8_t *code, const uint64_t *spill,
		 uint64_t *regs)
{
	const uint8_t *end = behind_spills(start);

	for (; start < end && start < code; start += EMIT_SPILL_BYTES)
		regs[spilled(start)] = *spill++;
}

/* nopl with a distance that is what it tells */
static uint8_t *emit_mark(struct emit *e)
{
	EMIT(e, 0x0f, 0x1f, 0x80, 0, 0, 0, 0);
	return e->at - MARK_BYTES + BEHIND_MARK;
}

static void set_mark(uint8_t *mark, const uint8_t *start, const uint8_t *own,
		     const uint8_t *end, const struct x86_op *op)
{
	struct detour d = { (uint8_t)(end - start), (uint8_t)(own - start), op->size };

	memcpy(mark, &d, sizeof(d));
}

/* rdgsbase, wrgsbase */
static bool is_of_base(const struct x86_op *op)
{
	return op->map == X86_OP_0F && op->opcode == 0xae && op->repeat == 0xf3 &&
	       op->mod == 3 && (op->reg & 5) == 1;
}

static bool has_memory(const struct x86_op *op)
{
	return op->modrm_off && op->mod != 3;
}

/* Between a register and the memory at an address that is in the instruction. */
static bool is_absolute(const struct x86_op *op)
{
	return op->map == X86_OP_ONE && (op->opcode & 0xfc) == 0xa0;
}

static bool is_lea(const struct x86_op *op)
{
	return op->map == X86_OP_ONE && op->opcode == 0x8d;
}

/* Memory that a register points at without being named: of strings, xlat, maskmov. */
static bool is_implied(const struct x86_op *op)
{
	if (op->map == X86_OP_0F)
		return op->opcode == 0xf7 && op->mod == 3;
	return op->map == X86_OP_ONE &&
	       ((op->opcode >= 0xa4 && op->opcode <= 0xa7) ||
		(op->opcode & 0xfe) == 0xac || (op->opcode & 0xfe) == 0x6e ||
		op->opcode == 0xd7);
}

/* A selector for gs: mov, pop, lgs. */
static bool is_of_selector(const struct x86_op *op)
{
	if (op->map == X86_OP_ONE)
		return op->opcode == 0x8e && (op->reg & 7) == 5;
	return op->map == X86_OP_0F && !op->is_vector &&
	       (op->opcode == 0xa9 || op->opcode == 0xb5);
}

/* At several addresses at once: gather, scatter. */
static bool is_scattered(const struct x86_op *op)
{
	return op->is_vector && op->map == X86_OP_0F38 &&
	       ((op->opcode & 0xfc) == 0x90 || (op->opcode & 0xfc) == 0xa0 ||
		(op->opcode & 0xfe) == 0xc6);
}

static bool is_by_gs(const struct x86_op *op)
{
	return op->segment == GS &&
	       ((has_memory(op) && !is_lea(op)) || is_absolute(op) || is_implied(op));
}

/* From the end of a copy at to. */
static int64_t distance(const struct x86_op *op, uint64_t from, const uint8_t *to)
{
	return (int64_t)(from - (uint64_t)to) + op->disp;
}

bool detour_is_needed(const struct x86_op *op, uint64_t from, const uint8_t *to)
{
	int64_t away = op->is_rip_relative ? distance(op, from, to) : 0;

	return is_by_gs(op) || away != (int32_t)away || is_of_base(op) ||
	       is_of_selector(op);
}

bool detour_is_possible(const struct x86_op *op)
{
	return !is_of_selector(op) &&
	       !(op->segment == GS && (is_implied(op) || is_scattered(op)));
}

static unsigned operand_end(const struct x86_op *op, uint64_t from)
{
	const uint8_t *modrm = (const uint8_t *)from + op->modrm_off;

	if (op->disp_off)
		return op->disp_off + (op->mod == 1 ? 1u : 4u);
	return op->modrm_off + 1u + ((*modrm & 7) == 4);
}

/* The vectors' newer encoding has it in units that depend on the instruction. */
static bool has_scaled_disp(const struct x86_op *op, uint64_t from)
{
	const uint8_t *modrm = (const uint8_t *)from + op->modrm_off;

	return op->is_vector && op->mod == 1 && op->modrm_off >= EVEX_BYTES &&
	       modrm[-EVEX_BYTES] == 0x62;
}

/* The instruction's own address, of what is not in the segment of the program's thread.
 */
static void emit_lea(struct emit *e, const struct x86_op *op, uint64_t from, unsigned to)
{
	const uint8_t *bytes = (const uint8_t *)from;
	unsigned end = operand_end(op, from);

	if (op->is_address_32)
		emit_u8(e, FAR_32);
	emit_u8(e, (uint8_t)(0x48 | (op->rex & (X86_OP_REX_X | X86_OP_REX_B))));
	emit_u8(e, 0x8d);
	emit_u8(e, (uint8_t)((bytes[op->modrm_off] & 0xc7) | to << 3));
	emit_bytes(e, bytes + op->modrm_off + 1, end - op->modrm_off - 1u);
	if (has_scaled_disp(op, from))
		e->at[-1] = 0;
	/* It is that of behind the pop. */
	if (op->map == X86_OP_ONE && op->opcode == 0x8f && op->base == X86_OP_RSP) {
		EMIT(e, 0x48, 0x8d);
		emit_u8(e, (uint8_t)(0x40 | to << 3 | to));
		emit_u8(e, op->has_66 ? 2 : 8);
	}
}

static uint64_t absolute(const struct x86_op *op, uint64_t from)
{
	unsigned bytes = op->is_address_32 ? 4 : 8;
	uint64_t addr = 0;

	memcpy(&addr, (const uint8_t *)from + op->size - bytes, bytes);
	return addr;
}

static uint64_t rip_relative(const struct x86_op *op, uint64_t from)
{
	uint64_t addr = from + op->size + (uint64_t)op->disp;

	return op->is_address_32 ? (uint32_t)addr : addr;
}

/* With a register that is there again afterwards: not to. */
static void emit_address(struct emit *e, const struct x86_op *op, uint64_t from,
			 unsigned to)
{
	if (is_absolute(op))
		emit_load_number(e, to, absolute(op, from));
	else if (op->is_rip_relative)
		emit_load_number(e, to, rip_relative(op, from));
	else
		emit_lea(e, op, from, to);
	if (op->segment != GS)
		return;
	emit_fill(e, X86_OP_RDX, CONTEXT_GS_BASE);
	EMIT(e, 0x48, 0x8d); /* lea (to,%rdx), to */
	emit_u8(e, (uint8_t)(0x04 | to << 3));
	emit_u8(e, (uint8_t)(X86_OP_RDX << 3 | to));
	emit_fill(e, X86_OP_RDX, CONTEXT_SPILL1);
}

static bool is_prefix(uint8_t byte)
{
	static const uint8_t prefixes[] = { 0x26, 0x2e,	  0x36, 0x3e, FS,  GS,
					    0x66, FAR_32, 0xf0, 0xf2, 0xf3 };

	for (unsigned i = 0; i < sizeof(prefixes); i++)
		if (prefixes[i] == byte)
			return true;
	return (byte & 0xf0) == 0x40;
}

static bool is_of_address(uint8_t prefix, const struct x86_op *op)
{
	return prefix == FAR_32 || prefix == GS || (prefix == FS && op->segment == GS);
}

/* All in front of the opcode, for an operand that has neither segment nor index nor one
 * of the higher registers.  Returns where the opcode is. */
static const uint8_t *emit_prefixes(struct emit *e, const struct x86_op *op,
				    uint64_t from)
{
	const uint8_t *at = (const uint8_t *)from;
	unsigned n;

	for (; is_prefix(*at); at++) {
		if ((*at & 0xf0) != 0x40) {
			if (!is_of_address(*at, op))
				emit_u8(e, *at);
		} else if (!is_prefix(at[1])) { /* else it is none */
			emit_u8(e, *at & ~(X86_OP_REX_X | X86_OP_REX_B));
		}
	}
	if (!op->is_vector)
		return at;
	n = *at == 0xc5 ? 2 : *at == 0xc4 ? 3 : 4;
	emit_bytes(e, at, n);
	if (n > 2) /* these bits are inverted */
		e->at[1 - (int)n] |= 0x60;
	return at + n;
}

/* The instruction with (%reg) for its operand. */
static void emit_own(struct emit *e, const struct x86_op *op, uint64_t from, unsigned reg)
{
	static const uint8_t with_modrm[] = { 0x8a, 0x8b, 0x88, 0x89 };
	const uint8_t *bytes = (const uint8_t *)from;
	const uint8_t *opcode = emit_prefixes(e, op, from);
	unsigned end;

	if (is_absolute(op)) {
		emit_u8(e, with_modrm[op->opcode & 3]);
		emit_u8(e, (uint8_t)reg);
		return;
	}
	end = operand_end(op, from);
	emit_bytes(e, opcode, (unsigned)(bytes + op->modrm_off - opcode));
	emit_u8(e, (uint8_t)((bytes[op->modrm_off] & 0x38) | reg));
	if (has_scaled_disp(op, from)) {
		e->at[-1] |= 0x40;
		emit_u8(e, bytes[op->disp_off]);
	}
	emit_bytes(e, bytes + end, op->size - end);
}

/* No instruction with an operand in memory uses these three without naming two. */
static unsigned free_register(unsigned a, unsigned b)
{
	if (a != X86_OP_RDI && b != X86_OP_RDI)
		return X86_OP_RDI;
	return a != X86_OP_RSI && b != X86_OP_RSI ? X86_OP_RSI : X86_OP_RBX;
}

/* mov, between the base's place and the register, of 32 or 64 bits. */
static void emit_read_base(struct emit *e, const struct x86_op *op)
{
	unsigned to = op->rm;

	emit_fill(e, to, CONTEXT_GS_BASE);
	if (!op->is_64)
		e->at[1 - EMIT_SPILL_BYTES] &= ~X86_OP_REX_W;
}

static void emit_move_to(struct emit *e, const struct x86_op *op, unsigned to)
{
	emit_u8(e, (uint8_t)(0x40 | (op->is_64 ? X86_OP_REX_W : 0) | op->rm >> 3));
	emit_u8(e, 0x8b);
	emit_u8(e, (uint8_t)(0xc0 | to << 3 | (op->rm & 7)));
}

static void emit_of_base(struct emit *e, const struct x86_op *op)
{
	unsigned reg = free_register(op->rm, op->rm);
	uint8_t *start = e->at, *mark, *own;

	emit_spill(e, reg, CONTEXT_SPILL0);
	mark = emit_mark(e);
	if (op->reg & 2) {
		emit_move_to(e, op, reg);
		own = e->at;
		emit_spill(e, reg, CONTEXT_GS_BASE);
	} else {
		own = e->at;
		emit_read_base(e, op);
	}
	emit_fill(e, reg, CONTEXT_SPILL0);
	set_mark(mark, start, own, e->at, op);
}

/* Returns the mark. */
static uint8_t *begin(struct emit *e, const struct x86_op *op, unsigned reg)
{
	emit_spill(e, reg, CONTEXT_SPILL0);
	if (op->segment == GS)
		emit_spill(e, X86_OP_RDX, CONTEXT_SPILL1);
	return emit_mark(e);
}

void detour_emit(struct emit *e, const struct x86_op *op, uint64_t from)
{
	uint8_t *start = e->at, *mark, *own;
	unsigned reg = free_register(op->reg, op->is_vector ? op->vvvv : op->reg);

	if (is_of_base(op)) {
		emit_of_base(e, op);
		return;
	}
	mark = begin(e, op, reg);
	emit_address(e, op, from, reg);
	own = e->at;
	emit_own(e, op, from, reg);
	emit_fill(e, reg, CONTEXT_SPILL0);
	set_mark(mark, start, own, e->at, op);
}

void detour_emit_target(struct emit *e, const struct x86_op *op, uint64_t from)
{
	uint8_t *start = e->at, *mark = begin(e, op, X86_OP_RCX);

	emit_address(e, op, from, X86_OP_RCX);
	if (op->segment && op->segment != GS)
		emit_u8(e, op->segment);
	EMIT(e, 0x48, 0x8b, 0x09); /* mov (%rcx), %rcx */
	set_mark(mark, start, e->at, e->at, op);
}
