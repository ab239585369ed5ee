/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/x86_flags.h"

#include "decode/x86_op.h"

#define C   X86_FLAG_C
#define P   X86_FLAG_P
#define A   X86_FLAG_A
#define Z   X86_FLAG_Z
#define S   X86_FLAG_S
#define O   X86_FLAG_O
#define ALL X86_FLAGS_ALL

#define NONE	     ((struct x86_flags){ 0, 0 })
#define READS(flags) ((struct x86_flags){ (flags), 0 })
#define SETS(flags)  ((struct x86_flags){ 0, (flags) })
#define MULTIPLY     SETS(C | O) /* CPUs leave the others as they were */

/* Of a condition, without its last bit, which turns it round. */
static struct x86_flags condition(unsigned code)
{
	static const uint8_t read[] = { O, C, Z, C | Z, S, P, S | O, Z | S | O };

	return READS(read[code >> 1 & 7]);
}

/* add or adc sbb and sub xor cmp */
static struct x86_flags arithmetic(unsigned what)
{
	what &= 7;
	return (struct x86_flags){ what == 2 || what == 3 ? C : 0, ALL };
}

/* rol ror rcl rcr shl shr sal sar; by nothing they leave the flags as they are, and some
 * CPUs the overflow flag of what is rotated by more than one.  by: 0 is unknown. */
static struct x86_flags shift(unsigned what, unsigned by)
{
	what &= 7;
	if (what == 2 || what == 3)
		return READS(C);
	if (!by)
		return NONE;
	if (what < 2)
		return SETS(by == 1 ? C | O : C);
	return SETS(ALL);
}

static unsigned shift_by(const struct x86_op *op, bool is_byte)
{
	return (unsigned)op->imm & (op->is_64 && !is_byte ? 63 : 31);
}

/* test test not neg mul imul div idiv */
static struct x86_flags group3(unsigned what)
{
	what &= 7;
	if (what == 2 || what > 5)
		return NONE;
	return what > 3 ? MULTIPLY : SETS(ALL);
}

/* Of strings; repeated they may do nothing. */
static struct x86_flags compare(const struct x86_op *op)
{
	return op->repeat ? NONE : SETS(ALL);
}

/* fcmovcc; fcomi and its like */
static struct x86_flags x87(const struct x86_op *op)
{
	unsigned what = op->reg & 7;

	if (op->mod != 3)
		return NONE;
	if (op->opcode == 0xda || (op->opcode == 0xdb && what < 4))
		return READS(C | Z | P);
	if ((op->opcode == 0xdb || op->opcode == 0xdf) && (what == 5 || what == 6))
		return SETS(C | Z | P);
	return NONE;
}

static struct x86_flags of_one(const struct x86_op *op)
{
	uint8_t code = op->opcode;

	if (code < 0x40)
		return arithmetic(code >> 3);
	switch (code) {
	case 0x69:
	case 0x6b:
		return MULTIPLY;
	case 0x84:
	case 0x85:
	case 0xa8:
	case 0xa9:
	case 0x9d:
		return SETS(ALL);
	case 0x70 ... 0x7f:
		return condition(code);
	case 0x80 ... 0x83:
		return arithmetic(op->reg);
	case 0x9c:
		return READS(ALL);
	case 0x9e:
		return SETS(ALL & ~O);
	case 0x9f:
		return READS(ALL & ~O);
	case 0xa6:
	case 0xa7:
	case 0xae:
	case 0xaf:
		return compare(op);
	case 0xc0:
	case 0xc1:
		return shift(op->reg, shift_by(op, code == 0xc0));
	case 0xd0:
	case 0xd1:
		return shift(op->reg, 1);
	case 0xd2:
	case 0xd3:
		return shift(op->reg, 0);
	case 0xd8 ... 0xdf:
		return x87(op);
	case 0xe0:
	case 0xe1:
		return READS(Z);
	case 0xf5:
		return (struct x86_flags){ C, C };
	case 0xf6:
	case 0xf7:
		return group3(op->reg);
	case 0xf8:
	case 0xf9:
		return SETS(C);
	case 0xfe:
	case 0xff:
		return (op->reg & 7) < 2 ? SETS(ALL & ~C) : NONE;
	/* What goes where nobody knows who looks at the flags. */
	case 0xcc ... 0xcd:
	case 0xcf:
	case 0xf1:
		return READS(ALL);
	default:
		return NONE;
	}
}

static struct x86_flags of_0f(const struct x86_op *op)
{
	uint8_t code = op->opcode;
	unsigned what = op->reg & 7;

	switch (code) {
	case 0x00:
		return what == 4 || what == 5 ? SETS(Z) : NONE; /* verr, verw */
	case 0x02:
	case 0x03:
		return SETS(Z);
	case 0x05:
		return READS(ALL);
	case 0x2e:
	case 0x2f:
	case 0xb0:
	case 0xb1:
	case 0xc0:
	case 0xc1:
		return SETS(ALL);
	case 0xaf:
		return MULTIPLY;
	case 0x40 ... 0x4f:
	case 0x80 ... 0x8f:
	case 0x90 ... 0x9f:
		return condition(code);
	case 0xa3:
	case 0xab:
	case 0xb3:
	case 0xbb:
	case 0xba:
		return SETS(C);
	case 0xa4:
	case 0xac:
		return shift(4, shift_by(op, false));
	case 0xb8:
		return SETS(ALL); /* popcnt */
	case 0xbc:
	case 0xbd:
		return SETS(op->repeat == 0xf3 ? C | Z : Z);
	case 0xc7:
		if (op->mod == 3 && what >= 6 && op->repeat != 0xf3)
			return SETS(ALL); /* rdrand, rdseed */
		return what == 1 ? SETS(Z) : NONE;
	default:
		return NONE;
	}
}

/* bits of general registers, and comparisons */
static struct x86_flags of_vector(const struct x86_op *op)
{
	uint8_t code = op->opcode;

	switch (op->map) {
	case X86_OP_0F:
		return code == 0x2e || code == 0x2f || code == 0x98 || code == 0x99
			       ? SETS(ALL)
			       : NONE;
	case X86_OP_0F38:
		if (code == 0xf2 || code == 0xf3 || (code == 0xf5 && !op->repeat) ||
		    (code == 0xf7 && !op->repeat && !op->has_66))
			return SETS(C | Z | S | O);
		return code == 0x0e || code == 0x0f || code == 0x17 ? SETS(ALL) : NONE;
	case X86_OP_0F3A:
		return code >= 0x60 && code <= 0x63 ? SETS(ALL) : NONE;
	case X86_OP_MAP5:
		return code == 0x2e || code == 0x2f ? SETS(ALL) : NONE;
	default:
		return NONE;
	}
}

static struct x86_flags of_0f38(const struct x86_op *op)
{
	if (op->opcode == 0x17)
		return SETS(ALL); /* ptest */
	if (op->opcode == 0xf6 && op->repeat == 0xf3)
		return (struct x86_flags){ O, O }; /* adox */
	if (op->opcode == 0xf6 && op->has_66)
		return (struct x86_flags){ C, C }; /* adcx */
	return NONE;
}

struct x86_flags x86_flags_of(const struct x86_op *op)
{
	if (op->is_vector)
		return of_vector(op);
	switch (op->map) {
	case X86_OP_ONE:
		return of_one(op);
	case X86_OP_0F:
		return of_0f(op);
	case X86_OP_0F38:
		return of_0f38(op);
	default:
		return op->opcode >= 0x60 && op->opcode <= 0x63 ? SETS(ALL) : NONE;
	}
}
