/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/operation_aarch64_table.h"

#include <stddef.h>

/* R: read, W: written; V: a vector, S: or the stack pointer; K: a constant. */
enum {
	NOTHING = 0,
	WD = OPERATION_AARCH64_D_WRITTEN,
	WDS = OPERATION_AARCH64_D_OR_SP_WRITTEN,
	RD = OPERATION_AARCH64_D_READ,
	WVD = OPERATION_AARCH64_D_VECTOR_WRITTEN,
	RVD = OPERATION_AARCH64_D_VECTOR_READ,
	RN = OPERATION_AARCH64_N_READ,
	RNS = OPERATION_AARCH64_N_OR_SP_READ,
	VN = OPERATION_AARCH64_N_VECTOR_READ,
	RM = OPERATION_AARCH64_M_READ,
	WM = OPERATION_AARCH64_M_WRITTEN,
	VM = OPERATION_AARCH64_M_VECTOR_READ,
	RA = OPERATION_AARCH64_A_READ,
	VA = OPERATION_AARCH64_A_VECTOR_READ,
	RF = OPERATION_AARCH64_FLAGS_READ,
	WF = OPERATION_AARCH64_FLAGS_WRITTEN,
	LINK = OPERATION_AARCH64_LINK_WRITTEN,
	LD = OPERATION_AARCH64_LOADS,
	ST = OPERATION_AARCH64_STORES,
	BASE = OPERATION_AARCH64_N_BASE,
	INDEX = OPERATION_AARCH64_M_INDEX,
	OFF12 = OPERATION_AARCH64_OFF_12,
	OFF9 = OPERATION_AARCH64_OFF_9,
	OFF7 = OPERATION_AARCH64_OFF_7,
	LITERAL = OPERATION_AARCH64_OFF_LITERAL,
	BEFORE = OPERATION_AARCH64_MOVES_BEFORE,
	BEHIND = OPERATION_AARCH64_MOVES_BEHIND,
	PAIR = OPERATION_AARCH64_PAIR,
	LIST = OPERATION_AARCH64_LIST,
	FUSES = OPERATION_AARCH64_FUSES,
	SUM = OPERATION_AARCH64_SUM,
	K = OPERATION_AARCH64_CONSTANT,
};

static unsigned amount_of(uint32_t w)
{
	return w >> 10 & 63;
}

/* sbfm and ubfm are extensions of integers, shifts by a constant and fields. */
static enum operation_class shift_or_field(uint32_t w, enum operation_class class)
{
	unsigned first = w >> 16 & 63, last = amount_of(w), top = w >> 31 ? 63 : 31;

	if (!first && (last == 7 || last == 15 || last == 31))
		return OPERATION_EXTEND;
	return last == top || first == last + 1 ? class : OPERATION_BIT_FIELD;
}

/* extr of the same register twice is a rotation. */
static enum operation_class one_or_two(uint32_t w, enum operation_class class)
{
	return (w >> 5 & 31) == (w >> 16 & 31) ? OPERATION_SHIFT : class;
}

static enum operation_class division(uint32_t w, enum operation_class class)
{
	return w >> 31 ? OPERATION_DIVIDE_64 : class;
}

static enum operation_class product(uint32_t w, enum operation_class class)
{
	return w >> 31 ? OPERATION_MULTIPLY_WIDE : class;
}

/* To the left and not far is quicker, as addresses are made so. */
static enum operation_class shifted_sum(uint32_t w, enum operation_class class)
{
	bool is_left = !(w >> 22 & 3);

	if (!amount_of(w))
		return class;
	return is_left && amount_of(w) <= 4 ? OPERATION_LEA : OPERATION_LEA_COMPLEX;
}

static enum operation_class shifted_logic(uint32_t w, enum operation_class class)
{
	bool sets_flags = (w >> 29 & 3) == 3;

	return amount_of(w) && sets_flags ? OPERATION_LEA_COMPLEX : class;
}

/* or of a register with itself is how vectors are copied. */
static enum operation_class logic_or_move(uint32_t w, enum operation_class class)
{
	bool is_or = (w & 0x20c00000) == 0x00800000;

	return is_or && (w >> 5 & 31) == (w >> 16 & 31) ? OPERATION_VECTOR_MOVE : class;
}

/* Products of 16 bytes are made in halves by some. */
static enum operation_class halves(uint32_t w, enum operation_class class)
{
	return w >> 30 & 1 ? OPERATION_VECTOR_MULTIPLY_32 : class;
}

/* Across more than four numbers it takes two parts. */
static enum operation_class of_many(uint32_t w, enum operation_class class)
{
	return (w >> 22 & 3) == 2 ? class : OPERATION_FP_HORIZONTAL;
}

/* ld2 to ld4: elements of several registers by turns. */
static enum operation_class list(uint32_t w, enum operation_class class)
{
	unsigned how = w >> 12 & 15;

	return how == 0 || how == 4 || how == 8 ? OPERATION_SHUFFLE : class;
}

#define ROW(name, mask, bits, class, uses)                                               \
	{                                                                                \
		name, mask, bits, uses, OPERATION_##class, NULL                          \
	}
#define REFINED(name, mask, bits, class, uses, refine)                                   \
	{                                                                                \
		name, mask, bits, uses, OPERATION_##class, refine                        \
	}

static const struct operation_aarch64_row rows[] = {
	/* Constants. */
	ROW("adr", 0x1f000000, 0x10000000, LEA, WD),
	ROW("cmn", 0x7f80001f, 0x3100001f, LOGIC, RNS | WF | FUSES | K),
	ROW("cmp", 0x7f80001f, 0x7100001f, LOGIC, RNS | WF | FUSES | K),
	ROW("adds", 0x7f800000, 0x31000000, ADD, WD | RNS | WF | K),
	ROW("subs", 0x7f800000, 0x71000000, ADD, WD | RNS | WF | K),
	ROW("add", 0x7f800000, 0x11000000, ADD, WDS | RNS | SUM | K),
	ROW("sub", 0x7f800000, 0x51000000, ADD, WDS | RNS | SUM | K),
	ROW("mov", 0x7f8003e0, 0x320003e0, MOVE, WDS | K),
	ROW("tst", 0x7f80001f, 0x7200001f, LOGIC, RN | WF | FUSES | K),
	ROW("ands", 0x7f800000, 0x72000000, LOGIC, WD | RN | WF | K),
	ROW("and", 0x7f800000, 0x12000000, LOGIC, WDS | RN | K),
	ROW("orr", 0x7f800000, 0x32000000, LOGIC, WDS | RN | K),
	ROW("eor", 0x7f800000, 0x52000000, LOGIC, WDS | RN | K),
	ROW("movn", 0x7f800000, 0x12800000, MOVE, WD | K),
	ROW("movz", 0x7f800000, 0x52800000, MOVE, WD | K),
	ROW("movk", 0x7f800000, 0x72800000, MOVE, WD | RD | K),
	REFINED("sbfm", 0x7f800000, 0x13000000, SHIFT, WD | RN | K, shift_or_field),
	ROW("bfm", 0x7f800000, 0x33000000, BIT_DEPOSIT, WD | RD | RN | K),
	REFINED("ubfm", 0x7f800000, 0x53000000, SHIFT, WD | RN | K, shift_or_field),
	REFINED("extr", 0x7fa00000, 0x13800000, SHIFT_DOUBLE, WD | RN | RM | K,
		one_or_two),
	/* Branches and the system. */
	ROW("b", 0xfc000000, 0x14000000, JUMP, NOTHING),
	ROW("bl", 0xfc000000, 0x94000000, CALL, LINK),
	ROW("b.cond", 0xff000000, 0x54000000, BRANCH, RF),
	ROW("cbz", 0x7e000000, 0x34000000, BRANCH, RD),
	ROW("tbz", 0x7e000000, 0x36000000, BRANCH, RD | K),
	ROW("br", 0xfefff000, 0xd61f0000, JUMP_INDIRECT, RN),
	ROW("blr", 0xfefff000, 0xd63f0000, CALL_INDIRECT, RN | LINK),
	ROW("ret", 0xfefff000, 0xd65f0000, RETURN, RN),
	ROW("eret", 0xfefff000, 0xd69f0000, SYSTEM, NOTHING),
	ROW("svc", 0xff000000, 0xd4000000, SYSTEM, NOTHING),
	ROW("isb", 0xfffff0ff, 0xd50330df, SERIALIZE, NOTHING),
	ROW("hint", 0xfffff01f, 0xd503201f, NOP, NOTHING),
	ROW("barrier", 0xfffff01f, 0xd503301f, FENCE, NOTHING),
	ROW("dc", 0xffffffe0, 0xd50b7420, MICROCODE, RD),
	ROW("mrs", 0xffffffe0, 0xd53bd040, OTHER, WD),
	ROW("mrs", 0xfff00000, 0xd5300000, MICROCODE, WD),
	ROW("msr", 0xfff00000, 0xd5100000, MICROCODE, RD),
	ROW("sysl", 0xfff00000, 0xd5200000, MICROCODE, WD),
	ROW("sys", 0xfff80000, 0xd5080000, MICROCODE, RD),
	ROW("msr", 0xfff00000, 0xd5000000, MICROCODE, NOTHING),
	/* Memory, one register; also exclusively, and with another that it is exchanged
	   for. */
	ROW("stlr", 0x3fe00000, 0x08800000, MOVE, RD | ST | BASE),
	ROW("ldar", 0x3fe00000, 0x08c00000, MOVE, WD | LD | BASE),
	ROW("cas", 0x3fa00000, 0x08a00000, ATOMIC, RD | RM | WM | LD | ST | BASE),
	ROW("casp", 0xbfa00000, 0x08200000, ATOMIC, RD | RM | WM | LD | ST | BASE),
	ROW("stxr", 0x3fe00000, 0x08000000, ATOMIC, RD | WM | ST | BASE),
	ROW("ldxr", 0x3fe00000, 0x08400000, MOVE, WD | LD | BASE),
	ROW("stxp", 0xbfe00000, 0x88200000, ATOMIC, RD | WM | ST | BASE | PAIR),
	ROW("ldxp", 0xbfe00000, 0x88600000, MOVE, WD | LD | BASE | PAIR),
	ROW("prfm", 0xff000000, 0xd8000000, PREFETCH, NOTHING),
	ROW("ldr", 0x3f000000, 0x18000000, MOVE, WD | LD | LITERAL),
	ROW("ldr", 0x3f000000, 0x1c000000, VECTOR_MOVE, WVD | LD | LITERAL),
	ROW("ldapr", 0x3ffffc00, 0x38bfc000, MOVE, WD | LD | BASE),
	ROW("swp", 0x3f20fc00, 0x38208000, ATOMIC, WD | RM | LD | ST | BASE),
	ROW("ldadd", 0x3f208c00, 0x38200000, ATOMIC, WD | RM | LD | ST | BASE),
	ROW("ldraa", 0xff200400, 0xf8200400, MOVE, WD | LD | BASE),
	ROW("stlur", 0x3fe00c00, 0x19000000, MOVE, RD | ST | BASE | OFF9),
	ROW("ldapur", 0x3f200c00, 0x19000000, MOVE, WD | LD | BASE | OFF9),
	ROW("prfm", 0xffc00000, 0xf9800000, PREFETCH, NOTHING),
	ROW("prfm", 0xffe00c00, 0xf8a00800, PREFETCH, NOTHING),
	ROW("prfum", 0xffe00c00, 0xf8800000, PREFETCH, NOTHING),
	ROW("str", 0x3fc00000, 0x39000000, MOVE, RD | ST | BASE | OFF12),
	ROW("ldr", 0x3f000000, 0x39000000, MOVE, WD | LD | BASE | OFF12),
	ROW("str", 0x3fe00c00, 0x38200800, MOVE, RD | ST | BASE | INDEX),
	ROW("ldr", 0x3f200c00, 0x38200800, MOVE, WD | LD | BASE | INDEX),
	ROW("stur", 0x3fe00c00, 0x38000000, MOVE, RD | ST | BASE | OFF9),
	ROW("ldur", 0x3f200c00, 0x38000000, MOVE, WD | LD | BASE | OFF9),
	ROW("sttr", 0x3fe00c00, 0x38000800, MOVE, RD | ST | BASE | OFF9),
	ROW("ldtr", 0x3f200c00, 0x38000800, MOVE, WD | LD | BASE | OFF9),
	ROW("str", 0x3fe00c00, 0x38000c00, MOVE, RD | ST | BASE | OFF9 | BEFORE),
	ROW("ldr", 0x3f200c00, 0x38000c00, MOVE, WD | LD | BASE | OFF9 | BEFORE),
	ROW("str", 0x3fe00c00, 0x38000400, MOVE, RD | ST | BASE | OFF9 | BEHIND),
	ROW("ldr", 0x3f200c00, 0x38000400, MOVE, WD | LD | BASE | OFF9 | BEHIND),
	ROW("str", 0x3f400000, 0x3d000000, VECTOR_MOVE, RVD | ST | BASE | OFF12),
	ROW("ldr", 0x3f000000, 0x3d000000, VECTOR_MOVE, WVD | LD | BASE | OFF12),
	ROW("str", 0x3f600c00, 0x3c200800, VECTOR_MOVE, RVD | ST | BASE | INDEX),
	ROW("ldr", 0x3f200c00, 0x3c200800, VECTOR_MOVE, WVD | LD | BASE | INDEX),
	ROW("stur", 0x3f600c00, 0x3c000000, VECTOR_MOVE, RVD | ST | BASE | OFF9),
	ROW("ldur", 0x3f200c00, 0x3c000000, VECTOR_MOVE, WVD | LD | BASE | OFF9),
	ROW("sttr", 0x3f600c00, 0x3c000800, VECTOR_MOVE, RVD | ST | BASE | OFF9),
	ROW("ldtr", 0x3f200c00, 0x3c000800, VECTOR_MOVE, WVD | LD | BASE | OFF9),
	ROW("str", 0x3f600c00, 0x3c000c00, VECTOR_MOVE, RVD | ST | BASE | OFF9 | BEFORE),
	ROW("ldr", 0x3f200c00, 0x3c000c00, VECTOR_MOVE, WVD | LD | BASE | OFF9 | BEFORE),
	ROW("str", 0x3f600c00, 0x3c000400, VECTOR_MOVE, RVD | ST | BASE | OFF9 | BEHIND),
	ROW("ldr", 0x3f200c00, 0x3c000400, VECTOR_MOVE, WVD | LD | BASE | OFF9 | BEHIND),
	/* Memory, pairs. */
	ROW("stnp", 0x3fc00000, 0x28000000, MOVE, RD | ST | BASE | PAIR | OFF7),
	ROW("ldnp", 0x3fc00000, 0x28400000, MOVE, WD | LD | BASE | PAIR | OFF7),
	ROW("stp", 0x3fc00000, 0x28800000, MOVE, RD | ST | BASE | PAIR | OFF7 | BEHIND),
	ROW("ldp", 0x3fc00000, 0x28c00000, MOVE, WD | LD | BASE | PAIR | OFF7 | BEHIND),
	ROW("stp", 0x3fc00000, 0x29000000, MOVE, RD | ST | BASE | PAIR | OFF7),
	ROW("ldp", 0x3fc00000, 0x29400000, MOVE, WD | LD | BASE | PAIR | OFF7),
	ROW("stp", 0x3fc00000, 0x29800000, MOVE, RD | ST | BASE | PAIR | OFF7 | BEFORE),
	ROW("ldp", 0x3fc00000, 0x29c00000, MOVE, WD | LD | BASE | PAIR | OFF7 | BEFORE),
	ROW("stnp", 0x3fc00000, 0x2c000000, VECTOR_MOVE, RVD | ST | BASE | PAIR | OFF7),
	ROW("ldnp", 0x3fc00000, 0x2c400000, VECTOR_MOVE, WVD | LD | BASE | PAIR | OFF7),
	ROW("stp", 0x3fc00000, 0x2c800000, VECTOR_MOVE,
	    RVD | ST | BASE | PAIR | OFF7 | BEHIND),
	ROW("ldp", 0x3fc00000, 0x2cc00000, VECTOR_MOVE,
	    WVD | LD | BASE | PAIR | OFF7 | BEHIND),
	ROW("stp", 0x3fc00000, 0x2d000000, VECTOR_MOVE, RVD | ST | BASE | PAIR | OFF7),
	ROW("ldp", 0x3fc00000, 0x2d400000, VECTOR_MOVE, WVD | LD | BASE | PAIR | OFF7),
	ROW("stp", 0x3fc00000, 0x2d800000, VECTOR_MOVE,
	    RVD | ST | BASE | PAIR | OFF7 | BEFORE),
	ROW("ldp", 0x3fc00000, 0x2dc00000, VECTOR_MOVE,
	    WVD | LD | BASE | PAIR | OFF7 | BEFORE),
	/* Memory, lists of vectors. */
	REFINED("st1", 0xbfff0000, 0x0c000000, VECTOR_MOVE, RVD | LIST | ST | BASE, list),
	REFINED("ld1", 0xbfff0000, 0x0c400000, VECTOR_MOVE, WVD | LIST | LD | BASE, list),
	REFINED("st1", 0xbfe00000, 0x0c800000, VECTOR_MOVE,
		RVD | LIST | ST | BASE | BEHIND, list),
	REFINED("ld1", 0xbfe00000, 0x0cc00000, VECTOR_MOVE,
		WVD | LIST | LD | BASE | BEHIND, list),
	ROW("st1", 0xbfdf0000, 0x0d000000, VECTOR_BLEND, RVD | LIST | ST | BASE),
	ROW("ld1r", 0xbfdfc000, 0x0d40c000, VECTOR_MOVE, WVD | LIST | LD | BASE),
	ROW("ld1", 0xbfdf0000, 0x0d400000, VECTOR_BLEND, WVD | RVD | LIST | LD | BASE),
	ROW("st1", 0xbfc00000, 0x0d800000, VECTOR_BLEND, RVD | LIST | ST | BASE | BEHIND),
	ROW("ld1r", 0xbfc0c000, 0x0dc0c000, VECTOR_MOVE, WVD | LIST | LD | BASE | BEHIND),
	ROW("ld1", 0xbfc00000, 0x0dc00000, VECTOR_BLEND,
	    WVD | RVD | LIST | LD | BASE | BEHIND),
	/* Registers. */
	REFINED("udiv", 0x7fe0fc00, 0x1ac00800, DIVIDE_32, WD | RN | RM, division),
	REFINED("sdiv", 0x7fe0fc00, 0x1ac00c00, DIVIDE_32, WD | RN | RM, division),
	ROW("lslv", 0x7fe0f000, 0x1ac02000, SHIFT, WD | RN | RM),
	ROW("crc32", 0x7fe0e000, 0x1ac04000, CHECKSUM, WD | RN | RM),
	ROW("pac", 0x7fe00000, 0x1ac00000, MICROCODE, WD | RN | RM),
	ROW("pac", 0x7fff0000, 0x5ac10000, MICROCODE, WD | RD | RN),
	ROW("clz", 0x7ffff800, 0x5ac01000, BIT_SCAN, WD | RN),
	ROW("rev", 0x7fff0000, 0x5ac00000, SWAP_BYTES, WD | RN),
	ROW("mov", 0x7fe0ffe0, 0x2a0003e0, MOVE, WD | RM | SUM),
	REFINED("mvn", 0x7f2003e0, 0x2a2003e0, LOGIC, WD | RM, shifted_logic),
	REFINED("tst", 0x7f20001f, 0x6a00001f, LOGIC, RN | RM | WF | FUSES,
		shifted_logic),
	REFINED("ands", 0x7f000000, 0x6a000000, LOGIC, WD | RN | RM | WF, shifted_logic),
	REFINED("logic", 0x1f000000, 0x0a000000, LOGIC, WD | RN | RM, shifted_logic),
	REFINED("cmp", 0x3f20001f, 0x2b00001f, LOGIC, RN | RM | WF | FUSES, shifted_sum),
	REFINED("adds", 0x3f200000, 0x2b000000, ADD, WD | RN | RM | WF, shifted_sum),
	REFINED("add", 0x3f200000, 0x0b000000, ADD, WD | RN | RM, shifted_sum),
	ROW("cmp", 0x3fe0001f, 0x2b20001f, LEA_COMPLEX, RNS | RM | WF),
	ROW("adds", 0x3fe00000, 0x2b200000, LEA_COMPLEX, WD | RNS | RM | WF),
	ROW("add", 0x3fe00000, 0x0b200000, LEA_COMPLEX, WDS | RNS | RM),
	ROW("adcs", 0x3fe0fc00, 0x3a000000, ADD_CARRY, WD | RN | RM | RF | WF),
	ROW("adc", 0x3fe0fc00, 0x1a000000, ADD_CARRY, WD | RN | RM | RF),
	ROW("rmif", 0x1fe00000, 0x1a000000, LOGIC, RN | RF | WF),
	ROW("ccmp", 0x3fe00800, 0x3a400800, LOGIC, RN | RF | WF | K),
	ROW("ccmp", 0x3fe00800, 0x3a400000, LOGIC, RN | RM | RF | WF),
	ROW("cset", 0x3fff03e0, 0x1a9f03e0, SET, WD | RF),
	ROW("csel", 0x3fe00000, 0x1a800000, CONDITIONAL_MOVE, WD | RN | RM | RF),
	REFINED("mul", 0x7fe0fc00, 0x1b007c00, MULTIPLY, WD | RN | RM, product),
	REFINED("madd", 0x7fe00000, 0x1b000000, MULTIPLY, WD | RN | RM | RA, product),
	ROW("smaddl", 0xff600000, 0x9b200000, MULTIPLY, WD | RN | RM | RA),
	ROW("smulh", 0xff600000, 0x9b400000, MULTIPLY_WIDE, WD | RN | RM),
	/* Floating point, one number. */
	ROW("scvtf", 0x5f3e0000, 0x1e020000, CONVERT_FROM_GENERAL, WVD | RN),
	ROW("scvtf", 0x5f3efc00, 0x1e220000, CONVERT_FROM_GENERAL, WVD | RN),
	ROW("fcvtz", 0x5f260000, 0x1e000000, CONVERT_TO_GENERAL, WD | VN),
	ROW("fmov", 0x5f3ffc00, 0x1e260000, VECTOR_TO_GENERAL, WD | VN),
	ROW("fmov", 0x5f3ffc00, 0x1e270000, GENERAL_TO_VECTOR, WVD | RN),
	ROW("fmov", 0xfffffc00, 0x9eae0000, VECTOR_TO_GENERAL, WD | VN),
	ROW("fmov", 0xfffffc00, 0x9eaf0000, VECTOR_INSERT, WVD | RVD | RN),
	ROW("fcvt", 0x5f20fc00, 0x1e200000, CONVERT_TO_GENERAL, WD | VN),
	ROW("fmov", 0xff3ffc00, 0x1e204000, VECTOR_MOVE, WVD | VN),
	ROW("fabs", 0xff3ffc00, 0x1e20c000, VECTOR_LOGIC, WVD | VN),
	ROW("fneg", 0xff3ffc00, 0x1e214000, VECTOR_LOGIC, WVD | VN),
	ROW("fsqrt", 0xfffffc00, 0x1e61c000, FP_ROOT_DOUBLE, WVD | VN),
	ROW("fsqrt", 0xff3ffc00, 0x1e21c000, FP_ROOT_SINGLE, WVD | VN),
	ROW("fcvt", 0xff3e7c00, 0x1e224000, CONVERT, WVD | VN),
	ROW("frint", 0xff207c00, 0x1e204000, FP_ROUND, WVD | VN),
	ROW("fcmp", 0xff20fc0f, 0x1e202008, FP_COMPARE, VN | WF | K),
	ROW("fcmp", 0xff20fc07, 0x1e202000, FP_COMPARE, VN | VM | WF),
	ROW("fmov", 0xff201fe0, 0x1e201000, VECTOR_MOVE, WVD | K),
	ROW("fccmp", 0xff200c00, 0x1e200400, FP_COMPARE, VN | VM | RF | WF),
	ROW("fmul", 0xff207c00, 0x1e200800, FP_MULTIPLY, WVD | VN | VM),
	ROW("fdiv", 0xffe0fc00, 0x1e601800, FP_DIVIDE_DOUBLE, WVD | VN | VM),
	ROW("fdiv", 0xff20fc00, 0x1e201800, FP_DIVIDE_SINGLE, WVD | VN | VM),
	ROW("fadd", 0xff20ec00, 0x1e202800, FP_ADD, WVD | VN | VM),
	ROW("fmax", 0xff20cc00, 0x1e204800, FP_EXTREME, WVD | VN | VM),
	ROW("fcsel", 0xff200c00, 0x1e200c00, VECTOR_BLEND, WVD | VN | VM | RF),
	ROW("fmadd", 0xff000000, 0x1f000000, FP_FUSED, WVD | VN | VM | VA),
	/* Vectors, ciphers and checks. */
	ROW("aes", 0xff3e0c00, 0x4e280800, AES, WVD | RVD | VN),
	ROW("sha", 0xff208c00, 0x5e000000, SHA, WVD | RVD | VN | VM),
	ROW("sha", 0xff3e0c00, 0x5e280800, SHA, WVD | RVD | VN),
	ROW("eor3", 0xff808000, 0xce000000, VECTOR_LOGIC, WVD | VN | VM | VA),
	ROW("sha512", 0xff000000, 0xce000000, SHA, WVD | RVD | VN | VM),
	/* Vectors, elements. */
	ROW("dup", 0xbfe0fc00, 0x0e000c00, GENERAL_TO_VECTOR, WVD | RN),
	ROW("dup", 0xbfe0fc00, 0x0e000400, SHUFFLE, WVD | VN),
	ROW("dup", 0xffe0fc00, 0x5e000400, SHUFFLE, WVD | VN),
	ROW("mov", 0xffe0fc00, 0x4e001c00, VECTOR_INSERT, WVD | RVD | RN),
	ROW("smov", 0xbfe0fc00, 0x0e002c00, VECTOR_EXTRACT, WD | VN),
	ROW("umov", 0xbfe0fc00, 0x0e003c00, VECTOR_EXTRACT, WD | VN),
	ROW("mov", 0xffe08400, 0x6e000400, SHUFFLE, WVD | RVD | VN),
	ROW("tbl", 0xbfe09c00, 0x0e000000, SHUFFLE_BYTES, WVD | VN | VM),
	ROW("tbx", 0xbfe09c00, 0x0e001000, SHUFFLE_BYTES, WVD | RVD | VN | VM),
	ROW("zip", 0xbf208c00, 0x0e000800, SHUFFLE, WVD | VN | VM),
	ROW("ext", 0xbfe08400, 0x2e000000, SHUFFLE, WVD | VN | VM | K),
	ROW("orr", 0x9ff89c00, 0x0f001400, VECTOR_LOGIC, WVD | RVD | K),
	ROW("orr", 0x9ff8dc00, 0x0f009400, VECTOR_LOGIC, WVD | RVD | K),
	ROW("movi", 0x9ff80400, 0x0f000400, VECTOR_MOVE, WVD | K),
	/* Vectors, of three alike. */
	ROW("bit", 0xafa0fc00, 0x2ea01c00, VECTOR_BLEND, WVD | RVD | VN | VM),
	ROW("bsl", 0xaf60fc00, 0x2e601c00, VECTOR_BLEND, WVD | RVD | VN | VM),
	REFINED("logic", 0x8f20fc00, 0x0e201c00, VECTOR_LOGIC, WVD | VN | VM,
		logic_or_move),
	ROW("saba", 0x8f20fc00, 0x0e207c00, VECTOR_MULTIPLY, WVD | RVD | VN | VM),
	ROW("sshl", 0x8f20e400, 0x0e204400, VECTOR_SHIFT, WVD | VN | VM),
	REFINED("mla", 0x8f20fc00, 0x0e209400, VECTOR_MULTIPLY, WVD | RVD | VN | VM,
		halves),
	REFINED("mul", 0x8f20fc00, 0x0e209c00, VECTOR_MULTIPLY, WVD | VN | VM, halves),
	REFINED("sqdmulh", 0x8f20fc00, 0x0e20b400, VECTOR_MULTIPLY, WVD | VN | VM,
		halves),
	ROW("fmaxnm", 0x8f20fc00, 0x0e20c400, FP_EXTREME, WVD | VN | VM),
	ROW("fmla", 0xaf20fc00, 0x0e20cc00, FP_FUSED, WVD | RVD | VN | VM),
	ROW("fmlal", 0x8f20fc00, 0x0e20cc00, FP_FUSED, WVD | RVD | VN | VM),
	ROW("fadd", 0x8f20fc00, 0x0e20d400, FP_ADD, WVD | VN | VM),
	ROW("fmul", 0x8f20fc00, 0x0e20dc00, FP_MULTIPLY, WVD | VN | VM),
	ROW("fdiv", 0xaf60fc00, 0x2e60fc00, FP_DIVIDE_DOUBLE, WVD | VN | VM),
	ROW("fdiv", 0xaf20fc00, 0x2e20fc00, FP_DIVIDE_SINGLE, WVD | VN | VM),
	ROW("frecps", 0x8f20fc00, 0x0e20fc00, FP_FUSED, WVD | VN | VM),
	ROW("fcm", 0x8f20c400, 0x0e20c400, FP_EXTREME, WVD | VN | VM),
	ROW("add", 0x8f200400, 0x0e200400, VECTOR_ADD, WVD | VN | VM),
	ROW("fcmla", 0x8f20e400, 0x0e00c400, FP_FUSED, WVD | RVD | VN | VM),
	ROW("sdot", 0x8f208400, 0x0e008400, VECTOR_ADD, WVD | RVD | VN | VM),
	ROW("fmla", 0xbf60fc00, 0x0e400c00, FP_FUSED, WVD | RVD | VN | VM),
	ROW("fadd", 0x9f60c400, 0x0e400400, FP_ADD, WVD | VN | VM),
	/* Vectors, of three that differ in width. */
	ROW("pmull", 0x8f20fc00, 0x0e20e000, CARRYLESS, WVD | VN | VM),
	ROW("saddl", 0x8f20cc00, 0x0e200000, VECTOR_ADD, WVD | VN | VM),
	ROW("addhn", 0x8f20dc00, 0x0e204000, VECTOR_ADD, WVD | RVD | VN | VM),
	ROW("sabal", 0x8f20fc00, 0x0e205000, VECTOR_MULTIPLY, WVD | RVD | VN | VM),
	ROW("sabdl", 0x8f20fc00, 0x0e207000, VECTOR_ADD, WVD | VN | VM),
	ROW("smull", 0x8f20ec00, 0x0e20c000, VECTOR_MULTIPLY, WVD | VN | VM),
	ROW("smlal", 0x8f20cc00, 0x0e208000, VECTOR_MULTIPLY, WVD | RVD | VN | VM),
	/* Vectors, of two. */
	ROW("sadalp", 0x8f3ffc00, 0x0e206800, VECTOR_MULTIPLY, WVD | RVD | VN),
	ROW("fcm", 0x8fbffc00, 0x0ea0c800, FP_EXTREME, WVD | VN),
	ROW("fcm", 0x8fbffc00, 0x0ea0d800, FP_EXTREME, WVD | VN),
	ROW("fcm", 0x8fbffc00, 0x0ea0e800, FP_EXTREME, WVD | VN),
	ROW("fabs", 0x8fbffc00, 0x0ea0f800, VECTOR_LOGIC, WVD | VN),
	ROW("xtn", 0x8f3ffc00, 0x0e212800, SHUFFLE, WVD | RVD | VN),
	ROW("sqxtn", 0x8f3ffc00, 0x0e214800, VECTOR_SHIFT, WVD | RVD | VN),
	ROW("fcvtn", 0x8f3ffc00, 0x0e216800, CONVERT, WVD | RVD | VN),
	ROW("fcvtl", 0x8f3ffc00, 0x0e217800, CONVERT, WVD | VN),
	ROW("frecpe", 0x8fbffc00, 0x0ea1d800, FP_RECIPROCAL, WVD | VN),
	ROW("urecpe", 0x8fbffc00, 0x0ea1c800, FP_RECIPROCAL, WVD | VN),
	ROW("fsqrt", 0xbffffc00, 0x2ee1f800, FP_ROOT_DOUBLE, WVD | VN),
	ROW("fsqrt", 0xbfbffc00, 0x2ea1f800, FP_ROOT_SINGLE, WVD | VN),
	ROW("frint", 0x8f3fec00, 0x0e218800, FP_ROUND, WVD | VN),
	ROW("fcvt", 0x8f3fec00, 0x0e21a800, CONVERT, WVD | VN),
	ROW("fcvt", 0x8f3fec00, 0x0e21c800, CONVERT, WVD | VN),
	ROW("rev", 0x8f3e0c00, 0x0e200800, VECTOR_ADD, WVD | VN),
	ROW("faddp", 0xdf3ffc00, 0x5e30d800, FP_ADD, WVD | VN),
	ROW("addp", 0xdf3e0c00, 0x5e300800, VECTOR_ADD, WVD | VN),
	REFINED("addv", 0x9f3e0c00, 0x0e300800, VECTOR_HORIZONTAL, WVD | VN, of_many),
	/* Vectors, by a number. */
	ROW("ssra", 0x8f80dc00, 0x0f001400, VECTOR_MULTIPLY, WVD | RVD | VN | K),
	ROW("sri", 0x8f80fc00, 0x0f004400, VECTOR_SHIFT, WVD | RVD | VN | K),
	ROW("sli", 0xaf80fc00, 0x2f005400, VECTOR_SHIFT, WVD | RVD | VN | K),
	ROW("scvtf", 0x8f80fc00, 0x0f00e400, CONVERT, WVD | VN | K),
	ROW("fcvtz", 0x8f80fc00, 0x0f00fc00, CONVERT, WVD | VN | K),
	ROW("sshr", 0x8f800400, 0x0f000400, VECTOR_SHIFT, WVD | VN | K),
	/* Vectors, with one element. */
	ROW("fmul", 0x8f00f400, 0x0f009000, FP_MULTIPLY, WVD | VN | VM),
	ROW("fmla", 0x8f00b400, 0x0f001000, FP_FUSED, WVD | RVD | VN | VM),
	ROW("mul", 0x8f00f400, 0x0f008000, VECTOR_MULTIPLY, WVD | VN | VM),
	ROW("smull", 0x8f00e400, 0x0f00a000, VECTOR_MULTIPLY, WVD | VN | VM),
	ROW("sqdmulh", 0x8f00f400, 0x0f00c000, VECTOR_MULTIPLY, WVD | VN | VM),
	ROW("mla", 0x8f000400, 0x0f000000, VECTOR_MULTIPLY, WVD | RVD | VN | VM),
	/* SVE: what its encoding tells at a glance; predicates are not waited for. */
	ROW("inc", 0xff20f000, 0x0420e000, ADD, WD | RD),
	ROW("add", 0xff200000, 0x04200000, VECTOR_ADD, WVD | VN | VM),
	ROW("add", 0xff200000, 0x04000000, VECTOR_ADD, WVD | RVD | VN),
	ROW("dup", 0xff000000, 0x05000000, SHUFFLE, WVD | VN | VM),
	ROW("while", 0xff000000, 0x25000000, MASK, RN | RM | WF),
	ROW("cmp", 0xfe000000, 0x24000000, MASK, VN | VM | WF),
	ROW("mla", 0xff000000, 0x44000000, VECTOR_MULTIPLY, WVD | RVD | VN | VM),
	ROW("mul", 0xff000000, 0x45000000, VECTOR_MULTIPLY, WVD | VN | VM),
	ROW("fmul", 0xff000000, 0x64000000, FP_FUSED, WVD | RVD | VN | VM),
	ROW("fmla", 0xff200000, 0x65200000, FP_FUSED, WVD | RVD | VN | VM),
	ROW("fadd", 0xff200000, 0x65000000, FP_ADD, WVD | RVD | VN | VM),
	ROW("ld1r", 0xfe000000, 0x84000000, VECTOR_MOVE, WVD | LD | BASE),
	ROW("ld1", 0xfe00e000, 0xa4004000, VECTOR_MOVE, WVD | LD | BASE | INDEX),
	ROW("ld1", 0xfe000000, 0xa4000000, VECTOR_MOVE, WVD | LD | BASE),
	ROW("ld1", 0xfe000000, 0xc4000000, GATHER, WVD | LD | BASE),
	ROW("st1", 0xfe00e000, 0xe4004000, VECTOR_MOVE, RVD | ST | BASE | INDEX),
	ROW("st1", 0xfe000000, 0xe4000000, VECTOR_MOVE, RVD | ST | BASE),
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

const struct operation_aarch64_row *operation_aarch64_table_find(uint32_t word)
{
	for (const struct operation_aarch64_row *r = rows; r < rows + N_ROWS; r++)
		if ((word & r->mask) == r->bits)
			return r;
	return NULL;
}

uint16_t operation_aarch64_table_id(const struct operation_aarch64_row *row)
{
	return (uint16_t)(row - rows + 1);
}

const struct operation_aarch64_row *operation_aarch64_table_at(uint16_t id)
{
	return id && id <= N_ROWS ? &rows[id - 1] : NULL;
}
