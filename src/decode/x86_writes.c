/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_writes.h"

#include "decode/x86_op.h"

/* Operands that an instruction writes. */
enum {
	TO_RM = 1,
	TO_REG = 2,
	TO_SIZED_RM = 4, /* a byte unless the opcode is odd */
	TO_SIZED_REG = 8,
	TO_CODED = 16, /* the opcode's last bits */
	TO_CODED_BYTE = 32,
	TO_BYTE_RM = 64,
	TO_VVVV = 128,
};

#define RAX (1u << X86_OP_RAX)
#define RCX (1u << X86_OP_RCX)
#define RDX (1u << X86_OP_RDX)
#define RBX (1u << X86_OP_RBX)
#define RSP (1u << X86_OP_RSP)
#define RBP (1u << X86_OP_RBP)
#define RSI (1u << X86_OP_RSI)
#define RDI (1u << X86_OP_RDI)

/* The opcodes from first to last write these operands and these registers. */
struct effect {
	uint8_t first, last;
	uint8_t operands;
	uint16_t regs;
};

/* Below 0x40 is arithmetic, in eight rows of the same. */
static const struct effect one_effects[] = {
	{ 0x50, 0x57, 0, RSP },
	{ 0x58, 0x5f, TO_CODED, RSP },
	{ 0x63, 0x63, TO_REG, 0 },
	{ 0x68, 0x68, 0, RSP },
	{ 0x69, 0x69, TO_REG, 0 },
	{ 0x6a, 0x6a, 0, RSP },
	{ 0x6b, 0x6b, TO_REG, 0 },
	{ 0x6c, 0x6f, 0, RCX | RSI | RDI },
	{ 0x80, 0x83, TO_SIZED_RM, 0 },
	{ 0x86, 0x87, TO_SIZED_RM | TO_SIZED_REG, 0 },
	{ 0x88, 0x89, TO_SIZED_RM, 0 },
	{ 0x8a, 0x8b, TO_SIZED_REG, 0 },
	{ 0x8c, 0x8c, TO_RM, 0 },
	{ 0x8d, 0x8d, TO_REG, 0 },
	{ 0x8f, 0x8f, TO_RM, RSP },
	{ 0x90, 0x97, TO_CODED, RAX },
	{ 0x98, 0x98, 0, RAX },
	{ 0x99, 0x99, 0, RDX },
	{ 0x9c, 0x9d, 0, RSP },
	{ 0x9f, 0x9f, 0, RAX },
	{ 0xa0, 0xa1, 0, RAX },
	{ 0xa4, 0xa7, 0, RCX | RSI | RDI },
	{ 0xaa, 0xaf, 0, RAX | RCX | RSI | RDI },
	{ 0xb0, 0xb7, TO_CODED_BYTE, 0 },
	{ 0xb8, 0xbf, TO_CODED, 0 },
	{ 0xc0, 0xc1, TO_SIZED_RM, 0 },
	{ 0xc6, 0xc7, TO_SIZED_RM, 0 },
	{ 0xc8, 0xc9, 0, RSP | RBP },
	{ 0xd0, 0xd3, TO_SIZED_RM, 0 },
	{ 0xd7, 0xd7, 0, RAX },
	{ 0xdf, 0xdf, 0, RAX }, /* fnstsw */
	{ 0xe0, 0xe2, 0, RCX },
	{ 0xe4, 0xe5, 0, RAX },
	{ 0xec, 0xed, 0, RAX },
	{ 0xfe, 0xff, TO_SIZED_RM, 0 },
};

static const struct effect integer_effects[] = {
	{ 0x00, 0x01, TO_RM, RAX | RCX | RDX },
	{ 0x02, 0x03, TO_REG, 0 },
	{ 0x05, 0x05, 0, RAX | RCX | 1u << X86_OP_R11 },
	{ 0x1e, 0x1e, TO_RM, 0 }, /* rdssp */
	{ 0x20, 0x21, TO_RM, 0 },
	{ 0x31, 0x33, 0, RAX | RDX },
	{ 0x40, 0x4f, TO_REG, 0 },
	{ 0x90, 0x9f, TO_BYTE_RM, 0 },
	{ 0xa0, 0xa1, 0, RSP },
	{ 0xa2, 0xa2, 0, RAX | RBX | RCX | RDX },
	{ 0xa4, 0xa5, TO_RM, 0 },
	{ 0xa8, 0xa9, 0, RSP },
	{ 0xab, 0xae, TO_RM, 0 },
	{ 0xaf, 0xaf, TO_REG, 0 },
	{ 0xb0, 0xb1, TO_SIZED_RM, RAX },
	{ 0xb2, 0xb2, TO_REG, 0 },
	{ 0xb3, 0xb3, TO_RM, 0 },
	{ 0xb4, 0xb8, TO_REG, 0 },
	{ 0xba, 0xbb, TO_RM, 0 },
	{ 0xbc, 0xbf, TO_REG, 0 },
	{ 0xc0, 0xc1, TO_SIZED_RM | TO_SIZED_REG, 0 },
	{ 0xc7, 0xc7, TO_RM, RAX | RDX },
	{ 0xc8, 0xcf, TO_CODED, 0 },
};

/* Of 0f xx: from a vector register to a general one. */
static const struct effect vector_effects[] = {
	{ 0x2c, 0x2d, TO_REG, 0 }, { 0x50, 0x50, TO_REG, 0 }, { 0x78, 0x79, TO_REG, 0 },
	{ 0x7e, 0x7e, TO_RM, 0 },  { 0xc5, 0xc5, TO_REG, 0 }, { 0xd7, 0xd7, TO_REG, 0 },
};

/* The same of masks, which have the numbers of integer instructions. */
static const struct effect mask_effects[] = {
	{ 0x93, 0x93, TO_REG, 0 },
};

static const struct effect effects_0f38[] = {
	{ 0xe0, 0xef, TO_REG, 0 }, /* cmpccxadd */
	{ 0xf0, 0xf2, TO_REG, 0 }, { 0xf3, 0xf3, TO_VVVV, 0 },
	{ 0xf5, 0xf5, TO_REG, 0 }, { 0xf6, 0xf6, TO_REG | TO_VVVV, 0 },
	{ 0xf7, 0xf7, TO_REG, 0 },
};

static const struct effect effects_0f3a[] = {
	{ 0x14, 0x17, TO_RM, 0 },
	{ 0x60, 0x63, 0, RCX },
	{ 0xf0, 0xf0, TO_REG, 0 },
};

static uint16_t bit(unsigned reg)
{
	return (uint16_t)(1u << reg);
}

/* Without REX, numbers 4 to 7 of a byte are the second bytes of 0 to 3. */
static uint16_t byte_bit(const struct x86_op *i, unsigned reg)
{
	return bit(!i->has_rex && reg >= 4 && reg < 8 ? reg - 4 : reg);
}

static uint16_t sized_bit(const struct x86_op *i, unsigned reg)
{
	return i->opcode & 1 ? bit(reg) : byte_bit(i, reg);
}

static uint16_t operand_bits(const struct x86_op *i, unsigned operands, unsigned coded)
{
	bool has_rm = i->mod == 3;
	uint16_t bits = 0;

	if ((operands & TO_RM) && has_rm)
		bits |= bit(i->rm);
	if ((operands & TO_SIZED_RM) && has_rm)
		bits |= sized_bit(i, i->rm);
	if ((operands & TO_BYTE_RM) && has_rm)
		bits |= byte_bit(i, i->rm);
	if (operands & TO_REG)
		bits |= bit(i->reg);
	if (operands & TO_SIZED_REG)
		bits |= sized_bit(i, i->reg);
	if (operands & TO_CODED)
		bits |= bit(coded);
	if (operands & TO_CODED_BYTE)
		bits |= byte_bit(i, coded);
	if ((operands & TO_VVVV) && i->is_vector)
		bits |= bit(i->vvvv);
	return bits;
}

#define FIND(effects, insn, coded)                                                       \
	find((effects), sizeof(effects) / sizeof((effects)[0]), (insn), (coded))

static uint16_t find(const struct effect *effects, unsigned n, const struct x86_op *i,
		     unsigned coded)
{
	for (unsigned k = 0; k < n; k++)
		if (i->opcode >= effects[k].first && i->opcode <= effects[k].last)
			return operand_bits(i, effects[k].operands, coded) |
			       effects[k].regs;
	return 0;
}

/* Opcodes that the reg field completes. */
static bool only_reads(const struct x86_op *i)
{
	unsigned what = i->reg & 7;

	if (i->map == X86_OP_0F)
		return i->opcode == 0xba && what == 4;			/* bt */
	return (i->opcode >= 0x80 && i->opcode <= 0x83 && what == 7) || /* cmp */
	       (i->opcode >= 0xf6 && i->opcode <= 0xf7 && what < 2) ||	/* test */
	       (i->opcode >= 0xfe && what > 1 && what != 6);		/* call, jmp */
}

static uint16_t arithmetic_writes(const struct x86_op *i)
{
	unsigned form = i->opcode & 7;

	if (i->opcode >= 0x38)
		return 0; /* cmp */
	return form >= 4 ? RAX
			 : operand_bits(i, form < 2 ? TO_SIZED_RM : TO_SIZED_REG, 0);
}

static uint16_t one_writes(const struct x86_op *i, unsigned coded)
{
	if (i->opcode < 0x40)
		return arithmetic_writes(i);
	if (i->opcode == 0xff && (i->reg & 7) == 6)
		return RSP;		/* push */
	if ((i->opcode & 0xfe) == 0xf6) /* not, neg; mul, div */
		return (i->reg & 7) < 4 ? operand_bits(i, TO_SIZED_RM, 0) : RAX | RDX;
	return FIND(one_effects, i, coded);
}

uint16_t x86_writes(const struct x86_op *i)
{
	unsigned coded = (i->opcode & 7u) | (i->rex & X86_OP_REX_B) << 3;

	if (i->map <= X86_OP_0F && !i->is_vector && only_reads(i))
		return 0;
	switch (i->map) {
	case X86_OP_ONE:
		return one_writes(i, coded);
	case X86_OP_0F:
		if (i->opcode == 0x7e && i->repeat)
			return 0; /* between vectors */
		return FIND(vector_effects, i, coded) |
		       (i->is_vector ? FIND(mask_effects, i, coded)
				     : FIND(integer_effects, i, coded));
	case X86_OP_0F38:
		return FIND(effects_0f38, i, coded);
	case X86_OP_0F3A:
		return FIND(effects_0f3a, i, coded);
	case X86_OP_MAP5:
		return FIND(vector_effects, i, coded);
	default:
		return 0;
	}
}
