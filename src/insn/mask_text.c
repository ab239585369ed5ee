/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/mask_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_BYTES    15
#define MAX_OPERANDS 4
#define OPERAND_MAX  64
#define MAX_DECIMAL  9 /* greater numbers are hexadecimal */

/* What operands there are, in the order of Intel's syntax; v is who the prefix has. */
enum form {
	MASK_OF_TWO, /* k, v k, rm k */
	MASK_OF_ONE, /* k, rm k */
	MASK_LOAD,   /* k, rm k or memory */
	MASK_STORE,  /* memory, k */
	MASK_FROM,   /* k, rm general */
	MASK_TO,     /* general, rm k */
	MASK_SHIFT,  /* k, rm k, number */
	COMPARE,     /* k, v vector, rm vector or memory */
	COMPARE_HOW, /* the same, number: which is a part of the name */
	COMPARE_HOW_UNSIGNED,
	TERNARY, /* vector, v vector, rm vector or memory, number */
	SPREAD,	 /* vector, rm general */
};

enum { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 };
enum { IS_VEX, IS_EVEX };

/* Names but for what the width adds: "kand" + "d", "vptestm" + "b". */
struct row {
	uint8_t is_evex, map, opcode, prefix;
	uint8_t l;	      /* of VEX: the length that it has */
	const char *sizes[2]; /* without and with W; NULL: there is no such one */
	uint8_t form;	      /* enum form */
	const char *name;
};

#define OF_WIDTHS(map, opcode, l, form, name)                                            \
	{ IS_VEX, map, opcode, PREFIX_NONE, l, { "w", "q" }, form, name },               \
	{                                                                                \
		IS_VEX, map, opcode, PREFIX_66, l, { "b", "d" }, form, name              \
	}
#define EVEX(map, opcode, prefix, narrow, wide, form, name)                              \
	{                                                                                \
		IS_EVEX, map, opcode, prefix, 0, { narrow, wide }, form, name            \
	}

static const struct row rows[] = {
	OF_WIDTHS(1, 0x41, 1, MASK_OF_TWO, "kand"),
	OF_WIDTHS(1, 0x42, 1, MASK_OF_TWO, "kandn"),
	OF_WIDTHS(1, 0x44, 0, MASK_OF_ONE, "knot"),
	OF_WIDTHS(1, 0x45, 1, MASK_OF_TWO, "kor"),
	OF_WIDTHS(1, 0x46, 1, MASK_OF_TWO, "kxnor"),
	OF_WIDTHS(1, 0x47, 1, MASK_OF_TWO, "kxor"),
	OF_WIDTHS(1, 0x4a, 1, MASK_OF_TWO, "kadd"),
	{ IS_VEX, 1, 0x4b, PREFIX_66, 1, { "bw", NULL }, MASK_OF_TWO, "kunpck" },
	{ IS_VEX, 1, 0x4b, PREFIX_NONE, 1, { "wd", "dq" }, MASK_OF_TWO, "kunpck" },
	OF_WIDTHS(1, 0x90, 0, MASK_LOAD, "kmov"),
	OF_WIDTHS(1, 0x91, 0, MASK_STORE, "kmov"),
	{ IS_VEX, 1, 0x92, PREFIX_NONE, 0, { "w", NULL }, MASK_FROM, "kmov" },
	{ IS_VEX, 1, 0x92, PREFIX_66, 0, { "b", NULL }, MASK_FROM, "kmov" },
	{ IS_VEX, 1, 0x92, PREFIX_F2, 0, { "d", "q" }, MASK_FROM, "kmov" },
	{ IS_VEX, 1, 0x93, PREFIX_NONE, 0, { "w", NULL }, MASK_TO, "kmov" },
	{ IS_VEX, 1, 0x93, PREFIX_66, 0, { "b", NULL }, MASK_TO, "kmov" },
	{ IS_VEX, 1, 0x93, PREFIX_F2, 0, { "d", "q" }, MASK_TO, "kmov" },
	OF_WIDTHS(1, 0x98, 0, MASK_OF_ONE, "kortest"),
	OF_WIDTHS(1, 0x99, 0, MASK_OF_ONE, "ktest"),
	{ IS_VEX, 3, 0x30, PREFIX_66, 0, { "b", "w" }, MASK_SHIFT, "kshiftr" },
	{ IS_VEX, 3, 0x31, PREFIX_66, 0, { "d", "q" }, MASK_SHIFT, "kshiftr" },
	{ IS_VEX, 3, 0x32, PREFIX_66, 0, { "b", "w" }, MASK_SHIFT, "kshiftl" },
	{ IS_VEX, 3, 0x33, PREFIX_66, 0, { "d", "q" }, MASK_SHIFT, "kshiftl" },
	EVEX(1, 0x64, PREFIX_66, "b", "b", COMPARE, "vpcmpgt"),
	EVEX(1, 0x65, PREFIX_66, "w", "w", COMPARE, "vpcmpgt"),
	EVEX(1, 0x66, PREFIX_66, "d", NULL, COMPARE, "vpcmpgt"),
	EVEX(2, 0x37, PREFIX_66, NULL, "q", COMPARE, "vpcmpgt"),
	EVEX(1, 0x74, PREFIX_66, "b", "b", COMPARE, "vpcmpeq"),
	EVEX(1, 0x75, PREFIX_66, "w", "w", COMPARE, "vpcmpeq"),
	EVEX(1, 0x76, PREFIX_66, "d", NULL, COMPARE, "vpcmpeq"),
	EVEX(2, 0x29, PREFIX_66, NULL, "q", COMPARE, "vpcmpeq"),
	EVEX(2, 0x26, PREFIX_66, "b", "w", COMPARE, "vptestm"),
	EVEX(2, 0x27, PREFIX_66, "d", "q", COMPARE, "vptestm"),
	EVEX(2, 0x26, PREFIX_F3, "b", "w", COMPARE, "vptestnm"),
	EVEX(2, 0x27, PREFIX_F3, "d", "q", COMPARE, "vptestnm"),
	EVEX(2, 0x7a, PREFIX_66, "b", NULL, SPREAD, "vpbroadcast"),
	EVEX(2, 0x7b, PREFIX_66, "w", NULL, SPREAD, "vpbroadcast"),
	EVEX(2, 0x7c, PREFIX_66, "d", "q", SPREAD, "vpbroadcast"),
	EVEX(3, 0x1e, PREFIX_66, "d", "q", COMPARE_HOW_UNSIGNED, "vpcmp"),
	EVEX(3, 0x1f, PREFIX_66, "d", "q", COMPARE_HOW, "vpcmp"),
	EVEX(3, 0x3e, PREFIX_66, "b", "w", COMPARE_HOW_UNSIGNED, "vpcmp"),
	EVEX(3, 0x3f, PREFIX_66, "b", "w", COMPARE_HOW, "vpcmp"),
	EVEX(3, 0x25, PREFIX_66, "d", "q", TERNARY, "vpternlog"),
};

/* An instruction's fields. */
struct code {
	const uint8_t *bytes;
	size_t size, at;
	bool is_short; /* it goes on behind the end, or has too many bytes */
	bool is_intel;
	bool is_evex, w, broadcasts, zeroes;
	uint8_t map, prefix, length; /* 0: 128 bits, 1: 256, 2: 512 */
	uint8_t mask;		     /* of EVEX; 0: none */
	uint8_t reg, v, rm;	     /* registers, with what prefixes add */
	uint8_t mod, index_high, base_high;
	uint8_t number;
	uint64_t address;
	const struct row *row;
	char memory[OPERAND_MAX];
	int64_t disp;
	bool is_ip_relative;
};

static uint8_t next(struct code *c)
{
	if (c->at >= c->size || c->at >= MAX_BYTES) {
		c->is_short = true;
		return 0;
	}
	return c->bytes[c->at++];
}

/* Bits of prefixes are stored inverted. */
static uint8_t inverted(uint8_t byte, unsigned bit)
{
	return !(byte >> bit & 1);
}

static bool read_vex(struct code *c)
{
	uint8_t first = next(c), b = next(c);
	bool is_long = first == 0xc4;

	c->reg = (uint8_t)(inverted(b, 7) << 3);
	c->map = is_long ? b & 0x1f : 1;
	c->base_high = is_long ? inverted(b, 5) : 0;
	c->index_high = is_long ? inverted(b, 6) : 0;
	if (is_long)
		b = next(c);
	c->w = is_long && b >> 7;
	c->v = ~(b >> 3) & 15;
	c->length = b >> 2 & 1;
	c->prefix = b & 3;
	return true;
}

static bool read_evex(struct code *c)
{
	uint8_t a, b, d;

	next(c);
	a = next(c);
	b = next(c);
	d = next(c);
	c->is_evex = true;
	c->reg = (uint8_t)(inverted(a, 7) << 3 | inverted(a, 4) << 4);
	c->index_high = inverted(a, 6);
	c->base_high = inverted(a, 5);
	c->map = a & 7;
	c->w = b >> 7;
	c->v = (uint8_t)((~(b >> 3) & 15) | inverted(d, 3) << 4);
	c->prefix = b & 3;
	c->zeroes = d >> 7;
	c->length = d >> 5 & 3;
	c->broadcasts = d >> 4 & 1;
	c->mask = d & 7;
	return !(a & 8) && b & 4 && c->length < 3;
}

static const struct row *find_row(const struct code *c, uint8_t opcode)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];

		if (r->is_evex == c->is_evex && r->map == c->map && r->opcode == opcode &&
		    r->prefix == c->prefix && r->sizes[c->w] &&
		    (c->is_evex || r->l == c->length))
			return r;
	}
	return NULL;
}

/* Operands. */

static bool is_of_vectors(const struct code *c)
{
	return c->row->form >= COMPARE;
}

static bool has_number(const struct code *c)
{
	unsigned form = c->row->form;

	return form == MASK_SHIFT || form == COMPARE_HOW ||
	       form == COMPARE_HOW_UNSIGNED || form == TERNARY;
}

/* Of what is spread, and of what masks are of. */
static unsigned element_bytes(const struct code *c)
{
	switch (c->row->sizes[c->w][0]) {
	case 'q':
		return 8;
	case 'd':
		return 4;
	case 'w':
		return 2;
	}
	return 1;
}

static unsigned memory_bytes(const struct code *c)
{
	if (!is_of_vectors(c) || c->broadcasts)
		return element_bytes(c);
	return 16u << c->length;
}

static const char *general_name(unsigned reg, unsigned bytes, char *text)
{
	static const char *const old[] = {
		"ax", "cx", "dx", "bx", "sp", "bp", "si", "di"
	};

	if (reg < 8)
		snprintf(text, 8, "%c%s", bytes == 8 ? 'r' : 'e', old[reg]);
	else
		snprintf(text, 8, "r%u%s", reg & 15, bytes == 8 ? "" : "d");
	return text;
}

static int put_number(char *to, size_t cap, int64_t v)
{
	uint64_t n = v < 0 ? -(uint64_t)v : (uint64_t)v;

	return snprintf(to, cap, n > MAX_DECIMAL ? "%s0x%" PRIx64 : "%s%" PRIu64,
			v < 0 ? "-" : "", n);
}

static const char *memory_type(const struct code *c)
{
	switch (memory_bytes(c)) {
	case 1:
		return "byte";
	case 2:
		return "word";
	case 4:
		return "dword";
	case 8:
		return "qword";
	case 16:
		return "xmmword";
	case 32:
		return "ymmword";
	}
	return "zmmword";
}

/* "8(%rax, %rcx, 4)", "ymmword ptr [rax + rcx*4 + 8]" */
static void print_memory(struct code *c, const char *base, const char *index,
			 unsigned scale)
{
	char disp[24] = "", spread[16] = "";

	if (c->broadcasts)
		snprintf(spread, sizeof(spread), "{1to%u}",
			 (16u << c->length) / element_bytes(c));
	if (c->is_intel) {
		char number[24] = "";
		bool is_alone = !*base && !*index;

		put_number(number, sizeof(number),
			   c->disp < 0 && !is_alone ? -c->disp : c->disp);
		if (c->disp || is_alone)
			snprintf(disp, sizeof(disp), "%s%s",
				 is_alone      ? ""
				 : c->disp < 0 ? " - "
					       : " + ",
				 number);
		snprintf(c->memory, sizeof(c->memory), "%s ptr [%s%s%s", memory_type(c),
			 base, *base && *index ? " + " : "", index);
		if (*index && scale > 1)
			snprintf(c->memory + strlen(c->memory), 4, "*%u", scale);
		snprintf(c->memory + strlen(c->memory),
			 sizeof(c->memory) - strlen(c->memory), "%s]%s", disp, spread);
		return;
	}
	if (c->disp || (!*base && !*index))
		put_number(disp, sizeof(disp), c->disp);
	if (!*base && !*index)
		snprintf(c->memory, sizeof(c->memory), "%s%s", disp, spread);
	else if (!*index)
		snprintf(c->memory, sizeof(c->memory), "%s(%%%s)%s", disp, base, spread);
	else if (scale > 1 || !*base)
		snprintf(c->memory, sizeof(c->memory), "%s(%s%s, %%%s, %u)%s", disp,
			 *base ? "%" : "", base, index, scale, spread);
	else
		snprintf(c->memory, sizeof(c->memory), "%s(%%%s, %%%s)%s", disp, base,
			 index, spread);
}

static int64_t read_disp(struct code *c, unsigned bytes)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint32_t)next(c) << 8 * i;
	/* EVEX has a byte count what is accessed. */
	if (bytes == 1)
		return (int8_t)v * (c->is_evex ? (int64_t)memory_bytes(c) : 1);
	return (int32_t)v;
}

static void read_memory(struct code *c)
{
	unsigned low = c->rm & 7, scale = 1;
	char base[8] = "", index[8] = "";
	bool has_base = true;

	if (low == 4) {
		uint8_t sib = next(c);
		unsigned i = (sib >> 3 & 7) | (unsigned)c->index_high << 3;

		low = sib & 7;
		scale = 1u << (sib >> 6);
		if (i != 4)
			general_name(i, 8, index);
		has_base = low != 5 || c->mod;
	} else if (low == 5 && !c->mod) {
		c->is_ip_relative = true;
		strcpy(base, "rip");
	}
	if (has_base && !c->is_ip_relative)
		general_name(low | (unsigned)c->base_high << 3, 8, base);
	if (c->mod == 1)
		c->disp = read_disp(c, 1);
	else if (c->mod == 2 || !has_base || c->is_ip_relative)
		c->disp = read_disp(c, 4);
	print_memory(c, base, index, scale);
}

static void read_rm(struct code *c)
{
	uint8_t b = next(c);

	c->mod = b >> 6;
	c->rm = b & 7;
	c->reg |= b >> 3 & 7;
	if (c->mod != 3) {
		read_memory(c);
		return;
	}
	c->rm |= (uint8_t)(c->base_high << 3);
	if (is_of_vectors(c) && c->row->form != SPREAD)
		c->rm |= (uint8_t)(c->index_high << 4);
}

/* What the row has no operand for, or cannot be, is another instruction. */
static bool is_valid(const struct code *c)
{
	bool is_memory = c->mod != 3, uses_v = false, may_be_memory = false;
	unsigned k_from = 8;

	switch (c->row->form) {
	case MASK_OF_TWO:
	case COMPARE:
	case COMPARE_HOW:
	case COMPARE_HOW_UNSIGNED:
	case TERNARY:
		uses_v = true;
		may_be_memory = is_of_vectors(c);
		break;
	case MASK_LOAD:
		may_be_memory = true;
		break;
	case MASK_STORE:
		may_be_memory = is_memory;
		k_from = is_memory ? 8 : 0;
		break;
	}
	if ((is_memory && !may_be_memory) || (!uses_v && c->v))
		return false;
	if (c->row->form == TERNARY || c->row->form == SPREAD)
		k_from = 32;
	else if (c->row->form == MASK_TO)
		k_from = 16;
	if (c->reg >= k_from || (c->row->form == MASK_OF_TWO && c->v > 7))
		return false;
	if (c->broadcasts && (!is_memory || element_bytes(c) < 4))
		return false;
	return !c->zeroes ||
	       (c->mask && (c->row->form == TERNARY || c->row->form == SPREAD));
}

static void put_register(const struct code *c, char *to, char kind, unsigned reg)
{
	const char *sign = c->is_intel ? "" : "%";
	char name[8];

	if (kind == 'k')
		snprintf(to, OPERAND_MAX, "%sk%u", sign, reg & 7);
	else if (kind == 'v')
		snprintf(to, OPERAND_MAX, "%s%cmm%u", sign, "xyz"[c->length], reg);
	else
		snprintf(to, OPERAND_MAX, "%s%s", sign,
			 general_name(reg, element_bytes(c) == 8 ? 8 : 4, name));
}

static void put_rm(const struct code *c, char *to, char kind)
{
	if (c->mod != 3)
		snprintf(to, OPERAND_MAX, "%s", c->memory);
	else
		put_register(c, to, kind, c->rm);
}

/* In the order of Intel's syntax; how many. */
static unsigned list_operands(const struct code *c, char to[MAX_OPERANDS][OPERAND_MAX])
{
	unsigned form = c->row->form, n = 0;
	char kind = is_of_vectors(c) ? 'v' : 'k';

	if (form == MASK_STORE)
		put_rm(c, to[n++], 'k');
	put_register(c, to[n++],
		     form == MASK_TO			 ? 'g'
		     : form == TERNARY || form == SPREAD ? 'v'
							 : 'k',
		     c->reg);
	if (form == MASK_OF_TWO || (kind == 'v' && form != SPREAD))
		put_register(c, to[n++], kind, c->v);
	if (form != MASK_STORE)
		put_rm(c, to[n++], form == MASK_FROM || form == SPREAD ? 'g' : kind);
	if (c->mask) {
		char *first = to[0];

		snprintf(first + strlen(first), OPERAND_MAX - strlen(first), " {%sk%u}%s",
			 c->is_intel ? "" : "%", c->mask, c->zeroes ? " {z}" : "");
	}
	return n;
}

static const char *how(const struct code *c)
{
	static const char *const names[] = {
		"eq", "lt", "le", NULL, "neq", "nlt", "nle"
	};
	bool is_any = c->row->form == COMPARE_HOW || c->row->form == COMPARE_HOW_UNSIGNED;

	return is_any && c->number < sizeof(names) / sizeof(names[0]) ? names[c->number]
								      : NULL;
}

static void print(const struct code *c, struct disasm_instruction *ret)
{
	char operands[MAX_OPERANDS][OPERAND_MAX], number[OPERAND_MAX] = "";
	const char *name = how(c);
	unsigned n = list_operands(c, operands);
	size_t at = 0;

	snprintf(ret->mnemonic, sizeof(ret->mnemonic), "%s%s%s%s", c->row->name,
		 name ? name : "", c->row->form == COMPARE_HOW_UNSIGNED ? "u" : "",
		 c->row->sizes[c->w]);
	if (has_number(c) && !name) {
		char *to = number + !c->is_intel;

		number[0] = '$';
		put_number(to, sizeof(number) - 1, c->number);
		if (!c->is_intel)
			at += (size_t)snprintf(ret->operands, sizeof(ret->operands),
					       "%s, ", number);
	}
	ret->operands[at] = '\0';
	for (unsigned i = 0; i < n; i++)
		at += (size_t)snprintf(ret->operands + at, sizeof(ret->operands) - at,
				       "%s%s", i ? ", " : "",
				       operands[c->is_intel ? i : n - 1 - i]);
	if (*number && c->is_intel)
		snprintf(ret->operands + at, sizeof(ret->operands) - at, ", %s", number);
}

size_t mask_text_read(const uint8_t *code, size_t size, uint64_t address, bool is_intel,
		      struct disasm_instruction *ret)
{
	struct code c = {
		.bytes = code, .size = size, .is_intel = is_intel, .address = address
	};
	bool is_known;

	if (!size || (code[0] != 0x62 && code[0] != 0xc4 && code[0] != 0xc5))
		return 0;
	is_known = code[0] == 0x62 ? read_evex(&c) : read_vex(&c);
	c.row = is_known && !c.is_short ? find_row(&c, next(&c)) : NULL;
	if (!c.row)
		return 0;
	read_rm(&c);
	if (has_number(&c))
		c.number = next(&c);
	if (c.is_short || !is_valid(&c))
		return 0;
	ret->size = (uint8_t)c.at;
	print(&c, ret);
	ret->has_memory = c.is_ip_relative;
	if (c.is_ip_relative)
		ret->memory = address + c.at + (uint64_t)c.disp;
	return c.at;
}
