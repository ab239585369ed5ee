/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_op.h"

#include <string.h>

/* What follows an opcode, 16 to a line:
 *	.  nothing           M  ModRM            x  is no instruction (or a prefix)
 *	b  1 byte            B  ModRM, 1 byte    w  2 bytes
 *	z  2 or 4 bytes      Z  ModRM, 2 or 4    v  2, 4 or 8 bytes
 *	d  4 bytes           o  an address       T  ModRM, as its reg field says
 *	e  3 bytes           P  ModRM, whose reg field is 0
 *	W  ModRM, and with a prefix 2 bytes (extrq, insertq) */
static const char one_forms[] = "MMMMbzxxMMMMbzxx"
				"MMMMbzxxMMMMbzxx"
				"MMMMbzxxMMMMbzxx"
				"MMMMbzxxMMMMbzxx"
				"xxxxxxxxxxxxxxxx"
				"................"
				"xxxMxxxxzZbB...."
				"bbbbbbbbbbbbbbbb"
				"BZxBMMMMMMMMMMMP"
				"..........x....."
				"oooo....bz......"
				"bbbbbbbbvvvvvvvv"
				"BBw.xxBZe.w..bx."
				"MMMMxxx.MMMMMMMM"
				"bbbbbbbbddxb...."
				"x.xx..TT......MM";

static const char two_forms[] = "MMMMx.....x.xMxB"
				"MMMMMMMMMMMMMMMM"
				"bbbbxxxxMMMMMMMM"
				"........xxxxxxxx"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM"
				"MMMMMMMMMMMMMMMM"
				"BBBBMMM.WMMMMMMM"
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
};

static uint8_t next(struct input *in)
{
	/* one too many is told by the size */
	return in->at < X86_OP_MAX_BYTES ? in->bytes[in->at++] : (in->at++, 0);
}

/* n: 1, 2, 4 or 8.  Of bytes that are one too many it is told by the size. */
static int64_t next_signed(struct input *in, unsigned n)
{
	const uint8_t *from = in->bytes + in->at;
	int16_t word;
	int32_t four;
	int64_t eight;

	in->at += n;
	if (in->at > X86_OP_MAX_BYTES)
		return 0;
	if (n == 1)
		return (int8_t)*from;
	if (n == 4)
		return memcpy(&four, from, 4), four;
	if (n == 2)
		return memcpy(&word, from, 2), word;
	return memcpy(&eight, from, 8), eight;
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
	case 0x64:
	case 0x65:
		i->segment = byte;
		return true;
	case 0x67: /* linkers also fill up a call with it */
		i->is_address_32 = true;
		return true;
	case 0x26:
	case 0x2e:
	case 0x36:
	case 0x3e:
		return true;
	case 0xf0:
		i->is_locked = true;
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

	i->rex = (uint8_t)(~p0 >> 5 & X86_OP_REX_R);
	if (first != 0xc5) {
		map = p0 & (first == 0x62 ? 15 : 31);
		p1 = next(in);
		i->rex = (uint8_t)((~p0 >> 5 & 7) | (p1 >> 4 & X86_OP_REX_W));
	}
	if (first == 0x62)
		next(in);
	imply(i, p1 & 3);
	i->vvvv = (uint8_t)(~p1 >> 3 & 15);
	i->map = (uint8_t)map;
	i->opcode = next(in);
	return (map >= X86_OP_0F && map <= X86_OP_0F3A) ||
	       (first == 0x62 && (map == X86_OP_MAP5 || map == X86_OP_MAP6));
}

/* The byte behind them; a REX that is not the last of them is none. */
static uint8_t read_prefixes(struct input *in, struct x86_op *i)
{
	uint8_t byte = next(in);

	for (; in->at < X86_OP_MAX_BYTES; byte = next(in)) {
		bool is_rex = (byte & 0xf0) == 0x40;

		if (!is_rex && !take_prefix(i, byte))
			break;
		i->has_rex = is_rex;
		i->rex = is_rex ? byte & 15 : 0;
	}
	i->has_odd_address = i->segment || i->is_address_32;
	return byte;
}

static bool read_opcode(struct input *in, struct x86_op *i)
{
	uint8_t byte = read_prefixes(in, i);

	if (byte == 0xc4 || byte == 0xc5 || byte == 0x62)
		return !i->has_rex && read_vector(in, byte, i);
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
	uint8_t modrm, rm, sib;

	i->modrm_off = (uint8_t)in->at;
	modrm = next(in);
	rm = modrm & 7;
	i->mod = modrm >> 6;
	i->reg = (uint8_t)((modrm >> 3 & 7) | (i->rex & X86_OP_REX_R) << 1);
	i->rm = i->base = (uint8_t)(rm | (i->rex & X86_OP_REX_B) << 3);
	if (i->mod == 3)
		return;
	if (rm == 4) {
		sib = next(in);
		i->has_index = (sib >> 3 & 7) != 4 || (i->rex & X86_OP_REX_X);
		i->base = (uint8_t)((sib & 7) | (i->rex & X86_OP_REX_B) << 3);
		rm = sib & 7;
	}
	if (i->mod == 0 && rm != 5)
		return;
	i->disp_off = (uint8_t)in->at;
	i->disp = (int32_t)next_signed(in, i->mod == 1 ? 1 : 4);
	if (i->mod == 0) {
		i->base = X86_OP_NO_REG;
		i->is_rip_relative = (modrm & 7) == 5;
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
	return i->map == X86_OP_0F3A ? 'B' : 'M';
}

/* Of AMD's processors: a number of bits, and which is the first. */
static bool has_two_counts(const struct x86_op *i)
{
	return i->mod == 3 && (i->repeat == 0xf2 || (i->has_66 && !i->repeat));
}

static bool read_operands(struct input *in, struct x86_op *i)
{
	char form = form_of(i);
	unsigned z = i->has_66 && !i->is_64 ? 2 : 4;

	if (form == 'x')
		return false;
	if (form == 'M' || form == 'B' || form == 'Z' || form == 'T' || form == 'P' ||
	    form == 'W')
		read_modrm(in, i);
	if (form == 'P' && (i->reg & 7))
		return false; /* XOP, which one maker's processors had for a while */
	if (form == 'T')      /* only test has something to compare with */
		form = (i->reg & 7) > 1 ? 'M' : i->opcode == 0xf6 ? 'B' : 'Z';
	if (form == 'b' || form == 'B')
		i->imm = next_signed(in, 1);
	else if (form == 'w' || (form == 'W' && has_two_counts(i)))
		i->imm = next_signed(in, 2);
	else if (form == 'z' || form == 'Z')
		i->imm = next_signed(in, z);
	else if (form == 'd')
		i->imm = next_signed(in, 4);
	else if (form == 'v')
		i->imm = next_signed(in, i->is_64 ? 8 : z);
	else if (form == 'o')
		next_signed(in, i->is_address_32 ? 4 : 8);
	else if (form == 'e')
		in->at += 3;
	return true;
}

bool x86_op_read(const uint8_t *bytes, struct x86_op *ret)
{
	struct input in = { .bytes = bytes };
	struct x86_op i = { .base = X86_OP_NO_REG };

	if (!read_opcode(&in, &i))
		return false;
	i.is_64 = i.rex & X86_OP_REX_W;
	if (i.map <= X86_OP_0F) /* if the opcode has one */
		i.rm = (uint8_t)((i.opcode & 7) | (i.rex & X86_OP_REX_B) << 3);
	if (!read_operands(&in, &i) || in.at > X86_OP_MAX_BYTES)
		return false;
	i.size = (uint8_t)in.at;
	*ret = i;
	return true;
}
