/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/operation_x86.h"

#include <capstone/capstone.h>
#include <fnmatch.h>
#include <string.h>

#include "decode/x86_op.h"

#define STACK_REG 4

/* What vectors' mnemonics are without the v of their newer form; the first that matches
 * counts. */
static const struct name_class {
	const char *pattern;
	enum operation_class class;
} classes[] = {
	{ "nop", OPERATION_NOP },
	{ "endbr*", OPERATION_NOP },
	{ "fnop", OPERATION_NOP },
	{ "zeroupper", OPERATION_NOP },
	{ "prefetch*", OPERATION_PREFETCH },
	{ "clflush*", OPERATION_PREFETCH },
	{ "clwb", OPERATION_PREFETCH },
	{ "mov", OPERATION_MOVE },
	{ "movabs", OPERATION_MOVE },
	{ "movnti", OPERATION_MOVE },
	{ "push", OPERATION_MOVE },
	{ "pop", OPERATION_MOVE },
	{ "leave", OPERATION_MOVE },
	{ "movzx", OPERATION_EXTEND },
	{ "movsx", OPERATION_EXTEND },
	{ "movsxd", OPERATION_EXTEND },
	{ "cbw", OPERATION_EXTEND },
	{ "cwde", OPERATION_EXTEND },
	{ "cdqe", OPERATION_EXTEND },
	{ "cwd", OPERATION_EXTEND },
	{ "cdq", OPERATION_EXTEND },
	{ "cqo", OPERATION_EXTEND },
	{ "add", OPERATION_ADD },
	{ "sub", OPERATION_ADD },
	{ "inc", OPERATION_ADD },
	{ "dec", OPERATION_ADD },
	{ "and", OPERATION_LOGIC },
	{ "or", OPERATION_LOGIC },
	{ "xor", OPERATION_LOGIC },
	{ "not", OPERATION_LOGIC },
	{ "neg", OPERATION_LOGIC },
	{ "cmp", OPERATION_LOGIC },
	{ "test", OPERATION_LOGIC },
	{ "[ls]ahf", OPERATION_LOGIC },
	{ "cl[cd]", OPERATION_LOGIC },
	{ "st[cd]", OPERATION_LOGIC },
	{ "cmc", OPERATION_LOGIC },
	{ "ad[co]", OPERATION_ADD_CARRY },
	{ "ad[co]x", OPERATION_ADD_CARRY },
	{ "sbb", OPERATION_ADD_CARRY },
	{ "lea", OPERATION_LEA },
	{ "sh[lr]d", OPERATION_SHIFT_DOUBLE },
	{ "s[ah][lr]", OPERATION_SHIFT },
	{ "s[ah][lr]x", OPERATION_SHIFT },
	{ "ro[lr]", OPERATION_SHIFT },
	{ "rorx", OPERATION_SHIFT },
	{ "rc[lr]", OPERATION_ROTATE_CARRY },
	{ "bt", OPERATION_BIT_TEST },
	{ "bt[crs]", OPERATION_BIT_TEST },
	{ "popcnt", OPERATION_BIT_COUNT },
	{ "lzcnt", OPERATION_BIT_COUNT },
	{ "tzcnt", OPERATION_BIT_SCAN },
	{ "bs[fr]", OPERATION_BIT_SCAN },
	{ "andn", OPERATION_BIT_FIELD },
	{ "bls*", OPERATION_BIT_FIELD },
	{ "bzhi", OPERATION_BIT_FIELD },
	{ "bextr", OPERATION_BIT_FIELD },
	{ "pdep", OPERATION_BIT_DEPOSIT },
	{ "pext", OPERATION_BIT_DEPOSIT },
	{ "crc32", OPERATION_CHECKSUM },
	{ "bswap", OPERATION_SWAP_BYTES },
	{ "movbe", OPERATION_SWAP_BYTES },
	{ "cmov*", OPERATION_CONDITIONAL_MOVE },
	{ "set*", OPERATION_SET },
	{ "xchg", OPERATION_EXCHANGE },
	{ "cmpxchg*", OPERATION_ATOMIC },
	{ "xadd", OPERATION_ATOMIC },
	{ "imul", OPERATION_MULTIPLY },
	{ "mul", OPERATION_MULTIPLY_WIDE },
	{ "mulx", OPERATION_MULTIPLY_WIDE },
	{ "div", OPERATION_DIVIDE_32 },
	{ "idiv", OPERATION_DIVIDE_32 },
	{ "jmp", OPERATION_JUMP },
	{ "j*", OPERATION_BRANCH },
	{ "call", OPERATION_CALL },
	{ "ret", OPERATION_RETURN },
	{ "loop*", OPERATION_MICROCODE },
	{ "[lsm]fence", OPERATION_FENCE },
	{ "syscall", OPERATION_SYSTEM },
	{ "int*", OPERATION_SYSTEM },
	{ "cpuid", OPERATION_SERIALIZE },
	{ "rdtsc*", OPERATION_MICROCODE },
	{ "lods?", OPERATION_STRING },
	{ "stos?", OPERATION_STRING },
	{ "scas?", OPERATION_STRING },
	{ "movs[bwq]", OPERATION_STRING },
	{ "cmps[bwq]", OPERATION_STRING },
	/* Vectors. */
	{ "mov[au]p[sd]", OPERATION_VECTOR_MOVE },
	{ "movdq[au]*", OPERATION_VECTOR_MOVE },
	{ "lddqu", OPERATION_VECTOR_MOVE },
	{ "movnt*", OPERATION_VECTOR_MOVE },
	{ "movs[sd]", OPERATION_VECTOR_BLEND },
	{ "movq", OPERATION_VECTOR_BLEND },
	{ "movd", OPERATION_VECTOR_BLEND },
	{ "movmskp[sd]", OPERATION_VECTOR_TO_GENERAL },
	{ "pmovmskb", OPERATION_VECTOR_TO_GENERAL },
	{ "add[sp][sd]", OPERATION_FP_ADD },
	{ "sub[sp][sd]", OPERATION_FP_ADD },
	{ "addsubp[sd]", OPERATION_FP_ADD },
	{ "max[sp][sd]", OPERATION_FP_EXTREME },
	{ "min[sp][sd]", OPERATION_FP_EXTREME },
	{ "cmp*[sp][sd]", OPERATION_FP_EXTREME },
	{ "mul[sp][sd]", OPERATION_FP_MULTIPLY },
	{ "fmadd*", OPERATION_FP_FUSED },
	{ "fmsub*", OPERATION_FP_FUSED },
	{ "fnm*", OPERATION_FP_FUSED },
	{ "div[sp]s", OPERATION_FP_DIVIDE_SINGLE },
	{ "div[sp]d", OPERATION_FP_DIVIDE_DOUBLE },
	{ "sqrt[sp]s", OPERATION_FP_ROOT_SINGLE },
	{ "sqrt[sp]d", OPERATION_FP_ROOT_DOUBLE },
	{ "rcp*", OPERATION_FP_RECIPROCAL },
	{ "rsqrt*", OPERATION_FP_RECIPROCAL },
	{ "*comis[sd]", OPERATION_FP_COMPARE },
	{ "round[sp][sd]", OPERATION_FP_ROUND },
	{ "rndscale*", OPERATION_FP_ROUND },
	{ "hadd*", OPERATION_FP_HORIZONTAL },
	{ "hsub*", OPERATION_FP_HORIZONTAL },
	{ "dpp[sd]", OPERATION_FP_HORIZONTAL },
	{ "cvt*2si", OPERATION_CONVERT_TO_GENERAL },
	{ "cvt*2usi", OPERATION_CONVERT_TO_GENERAL },
	{ "cvtsi2*", OPERATION_CONVERT_FROM_GENERAL },
	{ "cvtusi2*", OPERATION_CONVERT_FROM_GENERAL },
	{ "cvt*", OPERATION_CONVERT },
	{ "andp[sd]", OPERATION_VECTOR_LOGIC },
	{ "andnp[sd]", OPERATION_VECTOR_LOGIC },
	{ "orp[sd]", OPERATION_VECTOR_LOGIC },
	{ "xorp[sd]", OPERATION_VECTOR_LOGIC },
	{ "pand*", OPERATION_VECTOR_LOGIC },
	{ "por*", OPERATION_VECTOR_LOGIC },
	{ "pxor*", OPERATION_VECTOR_LOGIC },
	{ "pternlog*", OPERATION_VECTOR_LOGIC },
	{ "phadd*", OPERATION_VECTOR_HORIZONTAL },
	{ "phsub*", OPERATION_VECTOR_HORIZONTAL },
	{ "phminposuw", OPERATION_VECTOR_MULTIPLY },
	{ "padd*", OPERATION_VECTOR_ADD },
	{ "psub*", OPERATION_VECTOR_ADD },
	{ "pcmp?str?", OPERATION_VECTOR_STRING },
	{ "pcmp*", OPERATION_VECTOR_ADD },
	{ "pmax*", OPERATION_VECTOR_ADD },
	{ "pmin*", OPERATION_VECTOR_ADD },
	{ "pabs*", OPERATION_VECTOR_ADD },
	{ "pavg*", OPERATION_VECTOR_ADD },
	{ "psign*", OPERATION_VECTOR_ADD },
	{ "pslldq", OPERATION_SHUFFLE_BYTES },
	{ "psrldq", OPERATION_SHUFFLE_BYTES },
	{ "psll*", OPERATION_VECTOR_SHIFT },
	{ "psr[la]*", OPERATION_VECTOR_SHIFT },
	{ "pro[lr]*", OPERATION_VECTOR_SHIFT },
	{ "pmulld", OPERATION_VECTOR_MULTIPLY_32 },
	{ "pmullq", OPERATION_VECTOR_MULTIPLY_32 },
	{ "pmul*", OPERATION_VECTOR_MULTIPLY },
	{ "pmadd*", OPERATION_VECTOR_MULTIPLY },
	{ "psadbw", OPERATION_VECTOR_MULTIPLY },
	{ "mpsadbw", OPERATION_VECTOR_MULTIPLY },
	{ "*blend*", OPERATION_VECTOR_BLEND },
	{ "maskmov*", OPERATION_VECTOR_BLEND },
	{ "pmaskmov*", OPERATION_VECTOR_BLEND },
	{ "pmov[sz]x*", OPERATION_LANE_MOVE },
	{ "pmov*", OPERATION_SHUFFLE_LANES },
	{ "perm2?128", OPERATION_SHUFFLE_LANES },
	{ "permilp[sd]", OPERATION_SHUFFLE },
	{ "perm*", OPERATION_SHUFFLE_LANES },
	{ "pperm", OPERATION_SHUFFLE },
	{ "perm[it]2*", OPERATION_SHUFFLE_LANES },
	{ "insert[fi]*", OPERATION_LANE_MOVE },
	{ "extract[fi]*", OPERATION_LANE_MOVE },
	{ "*broadcast*", OPERATION_LANE_MOVE },
	{ "*expand*", OPERATION_SHUFFLE_LANES },
	{ "*compress*", OPERATION_SHUFFLE_LANES },
	{ "align*", OPERATION_SHUFFLE_LANES },
	{ "pshufb", OPERATION_SHUFFLE_BYTES },
	{ "pshuf*", OPERATION_SHUFFLE },
	{ "shufp[sd]", OPERATION_SHUFFLE },
	{ "*unpck*", OPERATION_SHUFFLE },
	{ "pack*", OPERATION_SHUFFLE_BYTES },
	{ "palignr", OPERATION_SHUFFLE_BYTES },
	{ "insertps", OPERATION_SHUFFLE },
	{ "mov[dhl]*", OPERATION_SHUFFLE },
	{ "movs[hl]dup", OPERATION_SHUFFLE },
	{ "pextr*", OPERATION_VECTOR_EXTRACT },
	{ "extractps", OPERATION_VECTOR_EXTRACT },
	{ "pinsr*", OPERATION_VECTOR_INSERT },
	{ "ptest*", OPERATION_VECTOR_TEST },
	{ "testp[sd]", OPERATION_VECTOR_TEST },
	{ "plzcnt*", OPERATION_VECTOR_SHIFT },
	{ "pconflict*", OPERATION_MICROCODE },
	{ "aes*", OPERATION_AES },
	{ "pclmulqdq", OPERATION_CARRYLESS },
	{ "sha*", OPERATION_SHA },
	{ "*gather*", OPERATION_GATHER },
	{ "*scatter*", OPERATION_SCATTER },
	{ "k*", OPERATION_MASK },
	{ "zeroall", OPERATION_MICROCODE },
	{ "emms", OPERATION_MICROCODE },
	{ "ldmxcsr", OPERATION_MICROCODE },
	{ "stmxcsr", OPERATION_MICROCODE },
	/* x87. */
	{ "fld", OPERATION_X87_MOVE },
	{ "fld1", OPERATION_X87_MOVE },
	{ "fldz", OPERATION_X87_MOVE },
	{ "fst", OPERATION_X87_MOVE },
	{ "fstp", OPERATION_X87_MOVE },
	{ "fxch", OPERATION_X87_MOVE },
	{ "fabs", OPERATION_X87_MOVE },
	{ "fchs", OPERATION_X87_MOVE },
	{ "ffree*", OPERATION_X87_MOVE },
	{ "fild", OPERATION_X87_ADD },
	{ "fist*", OPERATION_X87_ADD },
	{ "fadd*", OPERATION_X87_ADD },
	{ "fiadd", OPERATION_X87_ADD },
	{ "fsub*", OPERATION_X87_ADD },
	{ "fisub*", OPERATION_X87_ADD },
	{ "f*com*", OPERATION_X87_ADD },
	{ "fcmov*", OPERATION_X87_ADD },
	{ "ftst", OPERATION_X87_ADD },
	{ "fmul*", OPERATION_X87_MULTIPLY },
	{ "fimul", OPERATION_X87_MULTIPLY },
	{ "fdiv*", OPERATION_X87_DIVIDE },
	{ "fidiv*", OPERATION_X87_DIVIDE },
	{ "fsqrt", OPERATION_X87_DIVIDE },
	{ "f*", OPERATION_X87_SLOW },
	/* Many parts. */
	{ "x*", OPERATION_MICROCODE },
	{ "push[af]*", OPERATION_MICROCODE },
	{ "pop[af]*", OPERATION_MICROCODE },
	{ "enter", OPERATION_MICROCODE },
	{ "pause", OPERATION_MICROCODE },
	{ "rdrand", OPERATION_MICROCODE },
	{ "rdseed", OPERATION_MICROCODE },
	{ "[rw]?[fg]sbase", OPERATION_MICROCODE },
};

static enum operation_class class_of_name(const char *name)
{
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (fnmatch(classes[i].pattern, name, 0) == 0)
			return classes[i].class;
	return OPERATION_OTHER;
}

enum operation_class operation_x86_class(const char *mnemonic)
{
	enum operation_class class = OPERATION_OTHER;

	if (!mnemonic)
		return class;
	if (mnemonic[0] == 'v')
		class = class_of_name(mnemonic + 1);
	return class != OPERATION_OTHER ? class : class_of_name(mnemonic);
}

/* Registers. */

static const uint8_t general[X86_REG_ENDING] = {
#define NAMES(n, q, d, w, b)                                                             \
	[X86_REG_##q] = n + 1, [X86_REG_##d] = n + 1, [X86_REG_##w] = n + 1,             \
	[X86_REG_##b] = n + 1
	NAMES(0, RAX, EAX, AX, AL),
	NAMES(1, RCX, ECX, CX, CL),
	NAMES(2, RDX, EDX, DX, DL),
	NAMES(3, RBX, EBX, BX, BL),
	NAMES(4, RSP, ESP, SP, SPL),
	NAMES(5, RBP, EBP, BP, BPL),
	NAMES(6, RSI, ESI, SI, SIL),
	NAMES(7, RDI, EDI, DI, DIL),
	NAMES(8, R8, R8D, R8W, R8B),
	NAMES(9, R9, R9D, R9W, R9B),
	NAMES(10, R10, R10D, R10W, R10B),
	NAMES(11, R11, R11D, R11W, R11B),
	NAMES(12, R12, R12D, R12W, R12B),
	NAMES(13, R13, R13D, R13W, R13B),
	NAMES(14, R14, R14D, R14W, R14B),
	NAMES(15, R15, R15D, R15W, R15B),
	[X86_REG_AH] = 1,
	[X86_REG_CH] = 2,
	[X86_REG_DH] = 3,
	[X86_REG_BH] = 4,
#undef NAMES
};

/* Number in enum operation_register, or OPERATION_NO_REG. */
static uint8_t number_of(unsigned reg)
{
	if (reg < X86_REG_ENDING && general[reg])
		return (uint8_t)(general[reg] - 1);
	if (reg >= X86_REG_XMM0 && reg <= X86_REG_XMM31)
		return (uint8_t)(OPERATION_REG_VECTOR + reg - X86_REG_XMM0);
	if (reg >= X86_REG_YMM0 && reg <= X86_REG_YMM31)
		return (uint8_t)(OPERATION_REG_VECTOR + reg - X86_REG_YMM0);
	if (reg >= X86_REG_ZMM0 && reg <= X86_REG_ZMM31)
		return (uint8_t)(OPERATION_REG_VECTOR + reg - X86_REG_ZMM0);
	if (reg >= X86_REG_K0 && reg <= X86_REG_K7)
		return (uint8_t)(OPERATION_REG_MASK + reg - X86_REG_K0);
	if ((reg >= X86_REG_ST0 && reg <= X86_REG_ST7) ||
	    (reg >= X86_REG_MM0 && reg <= X86_REG_MM7) || reg == X86_REG_FPSW)
		return OPERATION_REG_X87;
	if (reg == X86_REG_EFLAGS)
		return OPERATION_REG_FLAGS;
	if (reg == X86_REG_FS || reg == X86_REG_GS)
		return OPERATION_REG_SEGMENT_BASE;
	return OPERATION_NO_REG;
}

static operation_registers bit_of(unsigned reg)
{
	uint8_t n = number_of(reg);

	return n == OPERATION_NO_REG ? 0 : operation_register_bit(n);
}

static bool is_high_byte(unsigned reg)
{
	return reg == X86_REG_AH || reg == X86_REG_BH || reg == X86_REG_CH ||
	       reg == X86_REG_DH;
}

static bool is_general(unsigned reg)
{
	return reg < X86_REG_ENDING && general[reg];
}

static bool is_vector(unsigned reg)
{
	uint8_t n = number_of(reg);

	return n >= OPERATION_REG_VECTOR && n < OPERATION_REG_MASK;
}

/* Operands. */

static void take_memory(const cs_insn *in, const cs_x86_op *op, struct operation *o)
{
	o->has_memory = true;
	o->is_ip_relative = op->mem.base == X86_REG_RIP;
	o->has_segment = op->mem.segment == X86_REG_FS || op->mem.segment == X86_REG_GS;
	o->disp = op->mem.disp;
	o->scale = (uint8_t)op->mem.scale;
	o->base = number_of(op->mem.base);
	o->index = number_of(op->mem.index);
	o->is_in_frame = o->base == STACK_REG && o->index == OPERATION_NO_REG;
	if (o->is_ip_relative)
		o->disp += (int64_t)in->address + in->size;
	o->address |= bit_of(op->mem.base) | bit_of(op->mem.index);
	if (o->class == OPERATION_LEA || o->class == OPERATION_LEA_COMPLEX ||
	    o->class == OPERATION_NOP)
		return;
	o->loads |= !!(op->access & CS_AC_READ);
	o->stores |= !!(op->access & CS_AC_WRITE);
	if (!op->access)
		o->loads = true;
}

/* Writing 8 or 16 bits of a general register leaves the others. */
static void take_register(const cs_x86_op *op, bool is_first, struct operation *o)
{
	operation_registers bit = bit_of(op->reg);
	uint8_t access = op->access;

	if (!access)
		access = is_first ? CS_AC_READ | CS_AC_WRITE : CS_AC_READ;
	if (access & CS_AC_READ)
		o->reads |= bit;
	if (access & CS_AC_WRITE)
		o->writes |= bit;
	if ((access & CS_AC_WRITE) && is_general(op->reg) && op->size < 4)
		o->merges |= bit;
}

static void take_operand(const cs_insn *in, const cs_x86_op *op, bool is_first,
			 struct operation *o)
{
	if (op->size > o->width)
		o->width = op->size;
	if (op->type == X86_OP_REG)
		take_register(op, is_first, o);
	else if (op->type == X86_OP_MEM)
		take_memory(in, op, o);
	else if (op->type == X86_OP_IMM)
		o->has_immediate = true;
}

static void take_operands(const cs_insn *in, struct operation *o)
{
	const cs_detail *d = in->detail;

	for (uint8_t i = 0; i < d->regs_read_count; i++)
		o->reads |= bit_of(d->regs_read[i]);
	for (uint8_t i = 0; i < d->regs_write_count; i++)
		o->writes |= bit_of(d->regs_write[i]);
	for (uint8_t i = 0; i < d->x86.op_count; i++)
		take_operand(in, &d->x86.operands[i], i == 0, o);
}

static bool is_register(const cs_x86 *x, unsigned i)
{
	return i < x->op_count && x->operands[i].type == X86_OP_REG;
}

static bool is_memory(const cs_x86 *x, unsigned i)
{
	return i < x->op_count && x->operands[i].type == X86_OP_MEM;
}

static bool is_immediate(const cs_x86 *x, unsigned i)
{
	return i < x->op_count && x->operands[i].type == X86_OP_IMM;
}

/* Classes that depend on operands. */

static bool is_repeated(const cs_x86 *x)
{
	return x->prefix[0] == X86_PREFIX_REP || x->prefix[0] == X86_PREFIX_REPNE;
}

static bool has_vector(const cs_x86 *x)
{
	for (unsigned i = 0; i < x->op_count; i++)
		if (is_register(x, i) && is_vector(x->operands[i].reg))
			return true;
	return false;
}

/* movd and movq between the kinds of registers; to and from memory they only move. */
static enum operation_class move_of(const cs_x86 *x, enum operation_class class)
{
	if (!has_vector(x))
		return OPERATION_STRING; /* movsd without vectors is one */
	if (is_memory(x, 0) || is_memory(x, 1))
		return OPERATION_VECTOR_MOVE;
	if (is_general(x->operands[0].reg))
		return OPERATION_VECTOR_TO_GENERAL;
	if (x->op_count > 1 && is_general(x->operands[x->op_count - 1].reg))
		return OPERATION_GENERAL_TO_VECTOR;
	return class;
}

static enum operation_class lea_of(const cs_x86 *x)
{
	const x86_op_mem *m = &x->operands[1].mem;

	if (!is_memory(x, 1) || m->base == X86_REG_INVALID ||
	    m->index == X86_REG_INVALID || !m->disp)
		return OPERATION_LEA;
	return OPERATION_LEA_COMPLEX;
}

static bool is_name(const cs_insn *in, unsigned a, unsigned b)
{
	return in->id == a || in->id == b;
}

static enum operation_class class_of(const cs_insn *in, enum operation_class class)
{
	const cs_x86 *x = &in->detail->x86;
	bool has_memory = is_memory(x, 0) || is_memory(x, 1);

	if (x->prefix[0] == X86_PREFIX_LOCK)
		return OPERATION_ATOMIC;
	switch (class) {
	case OPERATION_STRING:
		return is_repeated(x) ? OPERATION_REPEATED : class;
	case OPERATION_VECTOR_BLEND:
		if (is_name(in, X86_INS_MOVSD, X86_INS_MOVSS) && !has_vector(x))
			return is_repeated(x) ? OPERATION_REPEATED : OPERATION_STRING;
		return in->mnemonic[0] == 'm' || !strncmp(in->mnemonic, "vmov", 4)
			       ? move_of(x, class)
			       : class;
	case OPERATION_FP_EXTREME:
		if (is_name(in, X86_INS_CMPSD, X86_INS_CMPSS) && !has_vector(x))
			return is_repeated(x) ? OPERATION_REPEATED : OPERATION_STRING;
		return class;
	case OPERATION_LEA:
		return lea_of(x);
	case OPERATION_SHIFT:
		return is_register(x, 1) && x->op_count == 2 ? OPERATION_SHIFT_BY_REGISTER
							     : class;
	case OPERATION_EXCHANGE:
		return has_memory ? OPERATION_ATOMIC : class;
	case OPERATION_MULTIPLY:
		return x->op_count == 1 ? OPERATION_MULTIPLY_WIDE : class;
	case OPERATION_DIVIDE_32:
		return x->operands[0].size == 8 ? OPERATION_DIVIDE_64 : class;
	case OPERATION_JUMP:
		return is_immediate(x, 0) ? class : OPERATION_JUMP_INDIRECT;
	case OPERATION_CALL:
		return is_immediate(x, 0) ? class : OPERATION_CALL_INDIRECT;
	case OPERATION_SHUFFLE: /* movlps and the like to memory */
		return is_memory(x, 0) ? OPERATION_VECTOR_MOVE : class;
	case OPERATION_LANE_MOVE: /* broadcasts from memory */
		return x->op_count == 2 && is_memory(x, 1) ? OPERATION_VECTOR_MOVE
							   : class;
	default:
		return class;
	}
}

/* What the tables of the disassembler do not tell. */

/* Results that are put into the register instead of replacing it. */
static void add_merges(const cs_insn *in, struct operation *o)
{
	const cs_x86 *x = &in->detail->x86;
	bool is_old = in->mnemonic[0] != 'v' && is_register(x, 0) &&
		      is_vector(x->operands[0].reg) && !is_memory(x, 1);

	if (is_old && is_name(in, X86_INS_MOVSD, X86_INS_MOVSS))
		o->merges |= bit_of(x->operands[0].reg);
	if (in->mnemonic[0] == 'v' || !is_register(x, 0))
		return;
	switch (in->id) {
	case X86_INS_CVTSI2SD:
	case X86_INS_CVTSI2SS:
	case X86_INS_CVTSD2SS:
	case X86_INS_CVTSS2SD:
	case X86_INS_SQRTSD:
	case X86_INS_SQRTSS:
	case X86_INS_ROUNDSD:
	case X86_INS_ROUNDSS:
	case X86_INS_RCPSS:
	case X86_INS_RSQRTSS:
	case X86_INS_PINSRB:
	case X86_INS_PINSRW:
	case X86_INS_PINSRD:
	case X86_INS_PINSRQ:
		o->merges |= bit_of(x->operands[0].reg);
	}
}

/* xor of a register with itself, and what else has one result only. */
static bool is_zeroing(const cs_insn *in, const struct operation *o)
{
	static const char *const names[] = { "xor",	  "sub",	 "pxor*",
					     "xorp[sd]",  "psub[bwdq]",	 "pandn*",
					     "andnp[sd]", "pcmpgt[bwdq]" };
	const cs_x86 *x = &in->detail->x86;
	unsigned last = x->op_count - 1u;

	if (x->op_count < 2 || !is_register(x, last) || !is_register(x, last - 1) ||
	    x->operands[last].reg != x->operands[last - 1].reg ||
	    x->operands[last].size < 4)
		return false;
	if (o->class != OPERATION_LOGIC && o->class != OPERATION_ADD &&
	    o->class != OPERATION_VECTOR_LOGIC && o->class != OPERATION_VECTOR_ADD)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (fnmatch(names[i], in->mnemonic + (in->mnemonic[0] == 'v'), 0) == 0)
			return true;
	return false;
}

/* movzbl %cl,%eax, but neither %ch nor %al. */
static bool is_low_byte(const cs_insn *in)
{
	const cs_x86 *x = &in->detail->x86;
	unsigned from = x->operands[1].reg;

	return in->id == X86_INS_MOVZX && is_register(x, 1) && x->operands[0].size > 2 &&
	       x->operands[1].size == 1 && !is_high_byte(from) &&
	       number_of(x->operands[0].reg) != number_of(from);
}

/* addsd, movss, cvtss2sd: after the last operand; comparisons to flags and conversions
 * from and to integers have no others. */
static bool is_scalar(const cs_insn *in, enum operation_class class)
{
	const char *name = in->mnemonic + (in->mnemonic[0] == 'v');
	size_t n = strlen(name);

	switch (class) {
	case OPERATION_FP_COMPARE:
	case OPERATION_CONVERT_TO_GENERAL:
	case OPERATION_CONVERT_FROM_GENERAL:
		return true;
	case OPERATION_VECTOR_MOVE:
	case OPERATION_VECTOR_BLEND:
		return strcmp(name, "movss") == 0 || strcmp(name, "movsd") == 0;
	default:
		return class >= OPERATION_FP_ADD && class <= OPERATION_CONVERT && n > 2 &&
		       (strcmp(name + n - 2, "ss") == 0 ||
			strcmp(name + n - 2, "sd") == 0);
	}
}

/* Where the disassembler's tables of what is not written in an operand are wrong. */
static void mend_writes(const cs_insn *in, struct operation *o)
{
	const operation_registers rax = 1, rdx = 1 << 2,
				  flags = operation_register_bit(OPERATION_REG_FLAGS);

	switch (in->id) {
	case X86_INS_TEST:
		o->writes = flags;
		break;
	case X86_INS_CDQ:
	case X86_INS_CQO:
		o->writes = rdx;
		break;
	case X86_INS_MUL:
		o->writes |= in->detail->x86.operands[0].size > 1 ? rax | rdx : rax;
		break;
	case X86_INS_CMPXCHG:
		o->reads |= rax;
		o->writes |= rax | flags;
		break;
	case X86_INS_XADD:
		o->writes |= flags;
		break;
	}
}

/* Compilers put cmp, test and the like right before the branch. */
static bool may_fuse(const cs_insn *in, const struct operation *o)
{
	if (o->stores || (o->loads && o->has_immediate))
		return false;
	switch (in->id) {
	case X86_INS_CMP:
	case X86_INS_TEST:
	case X86_INS_ADD:
	case X86_INS_SUB:
	case X86_INS_AND:
	case X86_INS_INC:
	case X86_INS_DEC:
		return true;
	}
	return false;
}

/* The sum of a register and a constant, so that addresses are known to be the same. */
static void find_sum(const cs_insn *in, struct operation *o)
{
	const cs_x86 *x = &in->detail->x86;
	const cs_x86_op *to = &x->operands[0], *by = &x->operands[1];

	o->from = OPERATION_NO_REG;
	if (!is_register(x, 0) || to->size != 8 || !is_general(to->reg))
		return;
	o->to = number_of(to->reg);
	if (in->id == X86_INS_MOV && is_register(x, 1) && is_general(by->reg)) {
		o->from = number_of(by->reg);
	} else if (o->class == OPERATION_ADD) {
		bool is_plus = in->id == X86_INS_ADD || in->id == X86_INS_INC;
		int64_t n = x->op_count == 1 ? 1 : by->imm;

		if (x->op_count == 2 && !is_immediate(x, 1))
			return;
		o->from = o->to;
		o->offset = is_plus ? n : -n;
	} else if (o->class == OPERATION_LEA && o->index == OPERATION_NO_REG &&
		   o->base != OPERATION_NO_REG) {
		o->from = o->base;
		o->offset = o->disp;
	}
}

/* What it does to a first operand in memory, where the disassembler errs. */
static void access_first(struct operation *o, bool loads, bool stores)
{
	o->loads = loads;
	o->stores = stores;
}

static void mend_memory(const cs_insn *in, struct operation *o)
{
	if (!is_memory(&in->detail->x86, 0))
		return;
	if (o->class == OPERATION_VECTOR_MOVE || o->class == OPERATION_VECTOR_EXTRACT ||
	    o->class == OPERATION_SET)
		access_first(o, false, true);
	switch (in->id) {
	case X86_INS_TEST:
		access_first(o, true, false);
		break;
	case X86_INS_CMPXCHG:
	case X86_INS_CMPXCHG8B:
	case X86_INS_CMPXCHG16B:
	case X86_INS_ROL:
	case X86_INS_ROR:
	case X86_INS_RCL:
	case X86_INS_RCR:
		access_first(o, true, true);
		break;
	case X86_INS_FST:
	case X86_INS_FSTP:
	case X86_INS_FIST:
	case X86_INS_FISTP:
	case X86_INS_FISTTP:
	case X86_INS_FNSTCW:
	case X86_INS_FNSTSW:
	case X86_INS_FNSTENV:
	case X86_INS_FNSAVE:
	case X86_INS_FBSTP:
	case X86_INS_MOVBE:
	case X86_INS_MOVNTI:
	case X86_INS_STMXCSR:
	case X86_INS_VSTMXCSR:
		access_first(o, false, true);
		break;
	}
}

/* The stack's operand is not among those that are told. */
static void use_stack(const cs_insn *in, struct operation *o)
{
	o->pushes = in->id == X86_INS_PUSH || in->id == X86_INS_CALL;
	o->pops =
		in->id == X86_INS_POP || in->id == X86_INS_RET || in->id == X86_INS_LEAVE;
	o->stores |= o->pushes;
	o->loads |= o->pops;
}

void operation_x86_describe(const struct cs_insn *in, enum operation_class class,
			    struct operation *ret)
{
	*ret = (struct operation){
		.id = (uint16_t)in->id,
		.size = (uint8_t)in->size,
		.base = OPERATION_NO_REG,
		.index = OPERATION_NO_REG,
		.from = OPERATION_NO_REG,
		.class = (uint8_t)class_of(in, class),
	};
	take_operands(in, ret);
	mend_writes(in, ret);
	mend_memory(in, ret);
	if (ret->class >= OPERATION_X87_MOVE && ret->class <= OPERATION_X87_SLOW) {
		ret->reads |= operation_register_bit(OPERATION_REG_X87);
		ret->writes |= operation_register_bit(OPERATION_REG_X87);
	}
	add_merges(in, ret);
	ret->reads |= ret->merges;
	ret->is_zeroing = is_zeroing(in, ret);
	ret->is_scalar = is_scalar(in, ret->class);
	ret->is_low_byte = is_low_byte(in);
	ret->is_signed = in->id == X86_INS_MOVSX || in->id == X86_INS_MOVSXD;
	ret->may_fuse_with_branch = may_fuse(in, ret);
	find_sum(in, ret);
	use_stack(in, ret);
}

static operation_registers vector_bit(unsigned n)
{
	return operation_register_bit(OPERATION_REG_VECTOR + (n & 31));
}

/* Newer vector instructions than the disassembler knows: what their encoding tells. */
void operation_x86_describe_unknown(const struct x86_op *x, struct operation *ret)
{
	operation_registers first = vector_bit(x->reg), second = vector_bit(x->vvvv);

	*ret = (struct operation){
		.size = x->size,
		.class = x->is_vector ? OPERATION_VECTOR_ADD : OPERATION_OTHER,
		.base = x->modrm_off && x->mod != 3 ? x->base : OPERATION_NO_REG,
		.index = OPERATION_NO_REG,
		.from = OPERATION_NO_REG,
		.disp = x->disp,
		.width = 32,
		.has_memory = x->modrm_off && x->mod != 3,
	};
	if (ret->base < 16)
		ret->address = operation_register_bit(ret->base);
	if (!x->is_vector)
		return;
	ret->writes = first;
	ret->reads = second;
	ret->loads = x->modrm_off && x->mod != 3;
	if (x->modrm_off && x->mod == 3)
		ret->reads |= vector_bit(x->rm);
}
