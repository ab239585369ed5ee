/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/x86_op.h"

/* What follows an opcode, 16 to a line:
 *	.  nothing           M  ModRM            x  is no instruction (or a prefix)
 *	b  1 byte            B  ModRM, 1 byte    w  2 bytes
 *	z  2 or 4 bytes      Z  ModRM, 2 or 4    v  2, 4 or 8 bytes
 *	d  4 bytes           o  8 bytes          T  ModRM, as its reg field says */
static const char one_forms[] = "MMMMbzxxMMMMbzxx"
				"MMMMbzxxMMMMbzxx"
				"MMMMbzxxMMMMbzxx"
				"MMMMbzxxMMMMbzxx"
				"xxxxxxxxxxxxxxxx"
				"................"
				"xxxMxxxxzZbB...."
				"bbbbbbbbbbbbbbbb"
				"BZxBMMMMMMMMMMMM"
				"..........x....."
				"oooo....bz......"
				"bbbbbbbbvvvvvvvv"
				"BBw.xxBZx.xx.bxx"
				"MMMMxxx.MMMMMMMM"
				"bbbbbbbbddxb...."
				"xxxx..TT......MM";

static const char two_forms[] = "MMMMx.....x.xMxB"
				"MMMMMMMMMMMMMMMM"
				"MMMMxxxxMMMMMMMM"
				"........xxxxxxxx"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM"
				"BBBBMMM.MMMMMMMM"
				"dddddddddddddddd"
				"MMMMMMMMMMMMMMMM"
				"...MBMxx...MBMMM"
				"MMMMMMMMMMBMMMMM"
				"MMBMBBBM........"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM";

struct input {
	const uint8_t *bytes;
	unsigned at;
	uint8_t rex; /* W R X B, also of VEX */
};

static uint8_t next(struct input *in)
{
	/* one too many is told by the size */
	return in->at < X86_OP_MAX_BYTES ? in->bytes[in->at++] : (in->at++, 0);
}

static int64_t next_signed(struct input *in, unsigned n)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)next(in) << 8 * i;
	return n == 8 ? (int64_t)v : (int64_t)(v << (64 - 8 * n)) >> (64 - 8 * n);
}

static bool take_prefix(struct x86_op *i, uint8_t byte)
{
	switch (byte) {
	case 0x66:
		i->has_66 = true;
		return true;
	case 0xf2:
	case 0xf3:
		i->repeat = byte;
		return true;
	case 0x64: /* fs */
	case 0x65: /* gs */
	case 0x67: /* of 32 bits; linkers also fill up a call with it */
		i->has_odd_address = true;
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
	case 0xf0:
		return true;
	default:
		return false;
	}
}

/* pp: the prefix that a VEX prefix stands for. */
static void imply(struct x86_op *i, unsigned pp)
{
	static const uint8_t repeat[] = { 0, 0, 0xf3, 0xf2 };

	i->is_vector = true;
	i->has_66 = pp == 1;
	i->repeat = repeat[pp];
}

/* VEX (0xc4, 0xc5) or EVEX (0x62), whose first byte was read. */
static bool read_vector(struct input *in, uint8_t first, struct x86_op *i)
{
	uint8_t p0 = next(in), p1 = p0;
	unsigned map = 1;

	in->rex = (uint8_t)(~p0 >> 5 & 4); /* R */
	if (first != 0xc5) {
		map = p0 & (first == 0x62 ? 15 : 31);
		p1 = next(in);
		in->rex = (uint8_t)((~p0 >> 5 & 7) | (p1 >> 4 & 8));
	}
	if (first == 0x62)
		next(in);
	imply(i, p1 & 3);
	i->vvvv = (uint8_t)(~p1 >> 3 & 15);
	i->map = (uint8_t)map;
	i->opcode = next(in);
	return map >= X86_OP_0F && map <= X86_OP_0F3A;
}

static bool read_opcode(struct input *in, struct x86_op *i)
{
	uint8_t byte = next(in);

	while (take_prefix(i, byte) && in->at < X86_OP_MAX_BYTES)
		byte = next(in);
	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return read_vector(in, byte, i);
	if ((byte & 0xf0) == 0x40) {
		i->has_rex = true;
		in->rex = byte & 15;
		byte = next(in);
	}
	if (byte == 0x0f) {
		i->map = X86_OP_0F;
		byte = next(in);
		if (byte == 0x38 || byte == 0x3a) {
			i->map = byte == 0x38 ? X86_OP_0F38 : X86_OP_0F3A;
			byte = next(in);
		}
	}
	i->opcode = byte;
	return true;
}

static void read_modrm(struct input *in, struct x86_op *i)
{
	uint8_t modrm = next(in), rm = modrm & 7, sib;

	i->mod = modrm >> 6;
	i->reg = (uint8_t)((modrm >> 3 & 7) | (in->rex & 4) << 1);
	i->rm = i->base = (uint8_t)(rm | (in->rex & 1) << 3);
	if (i->mod == 3)
		return;
	if (rm == 4) {
		sib = next(in);
		i->has_index = (sib >> 3 & 7) != 4 || (in->rex & 2);
		i->base = (uint8_t)((sib & 7) | (in->rex & 1) << 3);
		rm = sib & 7;
	}
	if (i->mod == 0 && rm == 5) { /* no register, or rip */
		i->base = X86_OP_NO_REG;
		i->disp = (int32_t)next_signed(in, 4);
	} else if (i->mod) {
		i->disp = (int32_t)next_signed(in, i->mod == 1 ? 1 : 4);
	}
}

static char form_of(const struct x86_op *i)
{
	if (i->map == X86_OP_ONE)
		return one_forms[i->opcode];
	if (i->map == X86_OP_0F) /* of these, vectors have no other meaning than */
		return i->is_vector && i->opcode != 0x77 && two_forms[i->opcode] != 'B'
			       ? 'M'
			       : two_forms[i->opcode];
	return i->map == X86_OP_0F38 ? 'M' : 'B';
}

static bool read_operands(struct input *in, struct x86_op *i)
{
	char form = form_of(i);
	unsigned z = i->has_66 && !i->is_64 ? 2 : 4;

	if (form == 'x' || (form == 'o' && i->has_odd_address))
		return false;
	if (form == 'M' || form == 'B' || form == 'Z' || form == 'T')
		read_modrm(in, i);
	if (i->map == X86_OP_ONE && i->opcode == 0x8f && (i->reg & 7))
		return false; /* XOP, which one maker's processors had for a while */
	if (form == 'T')      /* only test has something to compare with */
		form = (i->reg & 7) > 1 ? 'M' : i->opcode == 0xf6 ? 'B' : 'Z';
	if (form == 'b' || form == 'B')
		i->imm = next_signed(in, 1);
	else if (form == 'w')
		i->imm = next_signed(in, 2);
	else if (form == 'z' || form == 'Z')
		i->imm = next_signed(in, z);
	else if (form == 'd')
		i->imm = next_signed(in, 4);
	else if (form == 'v')
		i->imm = next_signed(in, i->is_64 ? 8 : z);
	else if (form == 'o')
		next_signed(in, 8);
	return true;
}

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
	{ 0xc9, 0xc9, 0, RSP | RBP },
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

static uint16_t writes(const struct x86_op *i, unsigned coded)
{
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
	default:
		return FIND(effects_0f3a, i, coded);
	}
}

bool x86_op_read(const uint8_t *bytes, struct x86_op *ret)
{
	struct input in = { .bytes = bytes };
	struct x86_op i = { .base = X86_OP_NO_REG };

	if (!read_opcode(&in, &i))
		return false;
	i.is_64 = in.rex & 8;
	if (i.map == X86_OP_ONE)
		i.rm = (uint8_t)((i.opcode & 7) | (in.rex & 1) << 3); /* if it has one */
	if (!read_operands(&in, &i) || in.at > X86_OP_MAX_BYTES)
		return false;
	i.size = (uint8_t)in.at;
	i.writes = writes(&i, (i.opcode & 7u) | (in.rex & 1u) << 3);
	*ret = i;
	return true;
}
