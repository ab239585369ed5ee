/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_blur.h"

#include "decode/x86_machine.h"
#include "decode/x86_writes.h"

#define KEEPS_FLAGS 1 /* all */
#define READS_ONLY  2 /* memory, if any */
#define PLAIN	    (KEEPS_FLAGS | READS_ONLY)

/* The opcodes from first to last. */
struct range {
	uint8_t first, last;
	uint8_t what;
};

/* Whatever is not in these tables may change flags, and memory anywhere. */
static const struct range of_one[] = {
	{ 0x63, 0x63, PLAIN },	     /* movsxd of two bytes */
	{ 0x8c, 0x8c, KEEPS_FLAGS }, /* mov from a segment register */
	{ 0x9b, 0x9b, PLAIN },	     /* fwait */
	{ 0xa0, 0xa1, PLAIN },	     { 0xa2, 0xa5, KEEPS_FLAGS },
	{ 0xa6, 0xa7, READS_ONLY },  { 0xaa, 0xab, KEEPS_FLAGS },
	{ 0xac, 0xad, PLAIN },	     { 0xae, 0xaf, READS_ONLY },
	{ 0xc8, 0xc8, KEEPS_FLAGS }, /* enter */
	{ 0xd7, 0xd7, PLAIN },	     /* xlat */
	{ 0xd8, 0xd8, PLAIN },	     { 0xd9, 0xd9, KEEPS_FLAGS },
	{ 0xda, 0xda, PLAIN },	     { 0xdb, 0xdb, KEEPS_FLAGS },
	{ 0xdc, 0xdc, PLAIN },	     { 0xdd, 0xdd, KEEPS_FLAGS },
	{ 0xde, 0xde, PLAIN },	     { 0xdf, 0xdf, KEEPS_FLAGS },
};

static const struct range of_0f[] = {
	{ 0x10, 0x10, PLAIN },	     { 0x11, 0x11, KEEPS_FLAGS },
	{ 0x12, 0x12, PLAIN },	     { 0x13, 0x13, KEEPS_FLAGS },
	{ 0x14, 0x16, PLAIN },	     { 0x17, 0x17, KEEPS_FLAGS },
	{ 0x1e, 0x1e, PLAIN },	     { 0x28, 0x28, PLAIN },
	{ 0x29, 0x29, KEEPS_FLAGS }, { 0x2a, 0x2a, PLAIN },
	{ 0x2b, 0x2b, KEEPS_FLAGS }, { 0x2c, 0x2d, PLAIN },
	{ 0x2e, 0x2f, READS_ONLY },  { 0x31, 0x31, PLAIN }, /* rdtsc */
	{ 0x50, 0x77, PLAIN },	     { 0x7c, 0x7d, PLAIN },
	{ 0x7e, 0x7f, KEEPS_FLAGS }, { 0xa2, 0xa2, PLAIN }, /* cpuid */
	{ 0xbc, 0xbd, READS_ONLY },  { 0xc2, 0xc2, PLAIN },
	{ 0xc4, 0xc6, PLAIN },	     { 0xd0, 0xd5, PLAIN },
	{ 0xd6, 0xd6, KEEPS_FLAGS }, { 0xd7, 0xe6, PLAIN },
	{ 0xe7, 0xe7, KEEPS_FLAGS }, { 0xe8, 0xf6, PLAIN },
	{ 0xf7, 0xf7, KEEPS_FLAGS }, { 0xf8, 0xfe, PLAIN },
};

/* What vectors have where others are about general registers: masks, conversions. */
static const struct range of_vector_0f[] = {
	{ 0x41, 0x4b, PLAIN },	     { 0x78, 0x7b, PLAIN }, { 0x90, 0x90, PLAIN },
	{ 0x91, 0x91, KEEPS_FLAGS }, { 0x92, 0x93, PLAIN }, { 0x98, 0x99, READS_ONLY },
};

static const struct range of_0f38[] = {
	{ 0x00, 0x0b, PLAIN },	    { 0x10, 0x10, PLAIN }, { 0x14, 0x15, PLAIN },
	{ 0x17, 0x17, READS_ONLY }, { 0x1c, 0x1e, PLAIN }, { 0x20, 0x25, PLAIN },
	{ 0x28, 0x2b, PLAIN },	    { 0x30, 0x41, PLAIN }, { 0xc8, 0xcf, PLAIN },
	{ 0xd8, 0xdf, READS_ONLY }, { 0xf0, 0xf0, PLAIN }, { 0xf1, 0xf1, KEEPS_FLAGS },
};

static const struct range of_vector_0f38[] = {
	{ 0x00, 0x0d, PLAIN },	     { 0x0e, 0x0f, READS_ONLY },
	{ 0x10, 0x15, KEEPS_FLAGS }, /* some narrow what they store */
	{ 0x16, 0x16, PLAIN },	     { 0x17, 0x17, READS_ONLY },
	{ 0x18, 0x1f, PLAIN },	     { 0x20, 0x25, KEEPS_FLAGS },
	{ 0x26, 0x2d, PLAIN },	     { 0x2e, 0x35, KEEPS_FLAGS },
	{ 0x36, 0x48, PLAIN },	     { 0x4c, 0x62, PLAIN },
	{ 0x63, 0x63, KEEPS_FLAGS }, { 0x64, 0x89, PLAIN },
	{ 0x8a, 0x8b, KEEPS_FLAGS }, { 0x8c, 0x8d, PLAIN },
	{ 0x8e, 0x8e, KEEPS_FLAGS }, { 0x8f, 0x9f, PLAIN },
	{ 0xa0, 0xa3, KEEPS_FLAGS }, { 0xa4, 0xdf, PLAIN },
	{ 0xf2, 0xf3, READS_ONLY },  { 0xf5, 0xf7, READS_ONLY },
};

static const struct range of_0f3a[] = {
	{ 0x00, 0x13, PLAIN }, { 0x14, 0x17, KEEPS_FLAGS },
	{ 0x18, 0x18, PLAIN }, { 0x19, 0x19, KEEPS_FLAGS },
	{ 0x1a, 0x1a, PLAIN }, { 0x1b, 0x1b, KEEPS_FLAGS },
	{ 0x1c, 0x1c, PLAIN }, { 0x1d, 0x1d, KEEPS_FLAGS },
	{ 0x1e, 0x38, PLAIN }, { 0x39, 0x39, KEEPS_FLAGS },
	{ 0x3a, 0x3a, PLAIN }, { 0x3b, 0x3b, KEEPS_FLAGS },
	{ 0x3c, 0x5f, PLAIN }, { 0x60, 0x63, READS_ONLY },
	{ 0x64, 0xef, PLAIN },
};

static const struct range of_map5[] = {
	{ 0x10, 0x10, PLAIN }, { 0x11, 0x11, KEEPS_FLAGS },
	{ 0x12, 0x2d, PLAIN }, { 0x2e, 0x2f, READS_ONLY },
	{ 0x30, 0x7d, PLAIN }, { 0x7e, 0x7e, KEEPS_FLAGS },
};

static const struct range of_map6[] = { { 0x00, 0xff, PLAIN } };

#define FIND(table, opcode) find((table), sizeof(table) / sizeof((table)[0]), (opcode))

static unsigned find(const struct range *t, unsigned n, uint8_t opcode)
{
	for (unsigned i = 0; i < n; i++)
		if (opcode >= t[i].first && opcode <= t[i].last)
			return t[i].what;
	return 0;
}

static unsigned traits(const struct x86_op *op)
{
	unsigned what;

	switch (op->map) {
	case X86_OP_ONE:
		return FIND(of_one, op->opcode);
	case X86_OP_0F:
		what = FIND(of_0f, op->opcode);
		return !what && op->is_vector ? FIND(of_vector_0f, op->opcode) : what;
	case X86_OP_0F38:
		return op->is_vector ? FIND(of_vector_0f38, op->opcode)
				     : FIND(of_0f38, op->opcode);
	case X86_OP_0F3A:
		return FIND(of_0f3a, op->opcode);
	case X86_OP_MAP5:
		return FIND(of_map5, op->opcode);
	default:
		return FIND(of_map6, op->opcode);
	}
}

/* fcomi and its like */
static bool is_x87_comparison(const struct x86_op *op)
{
	unsigned what = op->reg & 7;

	return op->map == X86_OP_ONE && (op->opcode == 0xdb || op->opcode == 0xdf) &&
	       op->mod == 3 && (what == 5 || what == 6);
}

/* For the kernel, or of segments, or of newer processors with more registers. */
static bool is_beyond(const struct x86_step *s)
{
	const struct x86_op *op = s->op;
	uint8_t code = op->opcode;

	if (x86_machine_is_evex(s))
		return (op->map == X86_OP_0F38 && code >= 0xe0) ||
		       (op->map == X86_OP_0F &&
			((code >= 0x40 && code < 0x50) || (code >= 0x90 && code < 0xa0)));
	if (op->map == X86_OP_ONE)
		return (code >= 0x6c && code < 0x70) || code == 0x8e || code >= 0xe4;
	if (op->map != X86_OP_0F || op->is_vector)
		return false;
	return code < 0x10 || (code >= 0x20 && code < 0x28) ||
	       (code >= 0x30 && code < 0x38 && code != 0x31) ||
	       (code >= 0x78 && code < 0x7c) ||
	       (code >= 0xa0 && code < 0xaa && code != 0xa2) ||
	       (code >= 0xaa && code < 0xac) || code == 0xb8 || code == 0xb9 ||
	       code == 0xb2 || code == 0xb4 || code == 0xb5;
}

static unsigned vector_bytes(const struct x86_step *s)
{
	uint8_t length = s->bytes[s->op->modrm_off - 2];

	if (x86_machine_is_evex(s))
		return 16u << (length >> 5 & 3);
	return s->op->is_vector && length & 4 ? 32 : 16;
}

/* As many as are stored at the memory operand; 0: it is not known. */
static unsigned bytes_of_x87(const struct x86_op *op)
{
	unsigned what = op->reg & 7;

	if ((op->opcode == 0xd9 || op->opcode == 0xdd) && what == 6)
		return 128; /* fnstenv, fnsave */
	return what == 0 || (op->opcode != 0xdf && what > 3 && what < 6) ? 0 : 10;
}

static unsigned bytes_of_0f(const struct x86_step *s)
{
	const struct x86_op *op = s->op;
	unsigned what = op->reg & 7;

	switch (op->opcode) {
	case 0x11:
		return op->repeat == 0xf3 ? 4 : op->repeat ? 8 : vector_bytes(s);
	case 0x29:
	case 0x2b:
	case 0x7f:
	case 0xe7:
		return vector_bytes(s);
	case 0x13:
	case 0x17:
	case 0xd6:
	case 0x91:
		return 8;
	case 0x7e:
		return op->is_64 ? 8 : 4;
	case 0xae:
		return what == 3 ? 4 : 0; /* stmxcsr */
	case 0xc7:
		return what == 1 ? 16 : 0; /* cmpxchg16b */
	default:
		return 0;
	}
}

static unsigned bytes_of_0f3a(const struct x86_step *s)
{
	switch (s->op->opcode) {
	case 0x14:
		return 1;
	case 0x15:
		return 2;
	case 0x16:
		return s->op->is_64 ? 8 : 4;
	case 0x17:
		return 4;
	case 0x19:
	case 0x39:
		return 16;
	case 0x1b:
	case 0x3b:
		return 32;
	case 0x1d:
		return vector_bytes(s) / 2;
	default:
		return 0;
	}
}

static unsigned stored_bytes(const struct x86_step *s)
{
	const struct x86_op *op = s->op;

	switch (op->map) {
	case X86_OP_ONE:
		return op->opcode == 0x8c ? 2 : op->opcode >= 0xd8 ? bytes_of_x87(op) : 0;
	case X86_OP_0F:
		return bytes_of_0f(s);
	case X86_OP_0F38:
		return op->opcode == 0xf1 && !op->is_vector ? 8 : 0; /* movbe */
	case X86_OP_0F3A:
		return bytes_of_0f3a(s);
	case X86_OP_MAP5:
		return 2;
	default:
		return 0;
	}
}

/* Stores between registers, and loads that share a number with a store. */
static bool stores_nothing(const struct x86_op *op)
{
	bool is_masked = op->map == X86_OP_0F && op->opcode == 0xf7; /* to rdi */
	bool is_load = op->map == X86_OP_0F && op->opcode == 0x7e && op->repeat == 0xf3;
	bool is_crc32 =
		op->map == X86_OP_0F38 && op->opcode == 0xf1 && op->repeat == 0xf2;
	bool is_x87 = op->map == X86_OP_ONE && op->opcode >= 0xd8 && op->opcode <= 0xdf;
	unsigned what = op->reg & 7;

	if (op->modrm_off && op->mod == 3)
		return !is_masked;
	if (is_x87) /* fld, fild, fldenv, fldcw, frstor */
		return what == 0 || (op->opcode == 0xd9 && (what == 4 || what == 5)) ||
		       (op->opcode == 0xdb && what == 5) ||
		       (op->opcode == 0xdd && what == 4) ||
		       (op->opcode == 0xdf && (what == 4 || what == 5));
	return is_load || is_crc32;
}

static void blur_memory(struct x86_step *s)
{
	unsigned bytes = stores_nothing(s->op) ? 0 : stored_bytes(s);
	struct known_bits addr = s->addr;

	if (stores_nothing(s->op))
		return;
	if (!bytes) {
		path_memory_lose(&s->m->memory);
		return;
	}
	/* a short distance is in units of what is stored */
	if (x86_machine_is_evex(s) && s->op->mod == 1) {
		if (s->op->is_address_32)
			addr = (struct known_bits){ 0, 0 };
		addr = x86_machine_plus(addr, (int64_t)s->op->disp * (bytes - 1));
	}
	path_memory_spoil(&s->m->memory, addr, bytes);
}

/* rdrand and its like leave memory as it is; umwait sets flags. */
static unsigned traits_of_group(const struct x86_op *op)
{
	bool is_umwait = op->mod == 3 && (op->reg & 7) == 6 && (op->repeat || op->has_66);

	return op->opcode == 0xae && !is_umwait ? KEEPS_FLAGS : 0;
}

bool x86_blur(struct x86_step *s)
{
	const struct x86_op *op = s->op;
	bool is_group =
		op->map == X86_OP_0F && (op->opcode == 0xae || op->opcode == 0xc7);
	unsigned what, written = x86_writes(op);

	if (is_beyond(s))
		return false;
	what = is_group ? traits_of_group(op) : traits(op);
	if (is_x87_comparison(op))
		what &= ~(unsigned)KEEPS_FLAGS;
	for (unsigned i = 0; i < X86_OP_N_REGS; i++)
		if (written >> i & 1)
			s->m->regs[i] = (struct known_bits){ 0, 0 };
	if (!(what & KEEPS_FLAGS))
		x86_machine_set_flags(s->m, (struct known_bits){ 0, 0 }, X86_ALU_FLAGS);
	if (!(what & READS_ONLY))
		blur_memory(s);
	return true;
}
