/* SPDX-License-Identifier: Apache-2.0 */
#include "decode/arm_blur.h"

#include "decode/arm_alu.h"

#define RD ARM_MACHINE_RD

static const struct known_bits unknown = { 0, 0 };

static bool nothing(struct arm_step *s)
{
	(void)s;
	return true;
}

static bool forget(struct arm_step *s)
{
	arm_machine_set_reg(s, RD, 8, unknown);
	return true;
}

static bool forget_flags(struct arm_step *s)
{
	s->m->flags = unknown;
	return true;
}

static bool forget_both(struct arm_step *s)
{
	return forget(s) && forget_flags(s);
}

static bool forget_memory(struct arm_step *s)
{
	path_memory_lose(&s->m->memory);
	return true;
}

enum hint { NOTHING = 1, STRIP_LR, STRIP_17, SIGN_LR, SIGN_17 };

/* By their number; others may be anything one day. */
static const uint8_t hints[] = {
	[0 ... 6] = NOTHING,	/* nop yield wfe wfi sev sevl dgh */
	[7] = STRIP_LR,		/* xpaclri */
	[8] = SIGN_17,		/* pacia1716 */
	[10] = SIGN_17,		/* pacib1716 */
	[12] = STRIP_17,	/* autia1716 */
	[14] = STRIP_17,	/* autib1716 */
	[16 ... 18] = NOTHING,	/* esb psb tsb */
	[20] = NOTHING,		/* csdb */
	[22] = NOTHING,		/* clrbhb */
	[24 ... 27] = SIGN_LR,	/* paciaz paciasp pacibz pacibsp */
	[28 ... 31] = STRIP_LR, /* autiaz autiasp autibz autibsp */
	[32] = NOTHING,		/* bti */
	[34] = NOTHING,		[36] = NOTHING, [38] = NOTHING,
};

static bool hint(struct arm_step *s)
{
	unsigned which = arm_machine_field(s, 5, 7);
	enum hint what = which < sizeof(hints) ? hints[which] : 0;
	bool is_lr = what == STRIP_LR || what == SIGN_LR;
	struct known_bits *reg = &s->m->regs[is_lr ? ARM_MACHINE_LR : 17];

	if (what == STRIP_LR || what == STRIP_17)
		*reg = arm_machine_stripped(*reg);
	else if (what == SIGN_LR || what == SIGN_17)
		*reg = arm_machine_signed(*reg);
	return what;
}

static bool read_flags(struct arm_step *s)
{
	struct known_bits v = s->m->flags;

	v.known |= ~(uint64_t)ARM_ALU_FLAGS;
	arm_machine_set_reg(s, RD, 8, v);
	return true;
}

static bool write_flags(struct arm_step *s)
{
	struct known_bits v = arm_machine_reg(s, RD, 8);

	s->m->flags =
		(struct known_bits){ v.bits & ARM_ALU_FLAGS, v.known & ARM_ALU_FLAGS };
	return true;
}

bool arm_blur_system(struct arm_step *s)
{
	static const struct arm_rule rules[] = {
		{ 0xfffff01f, 0xd503201f, hint },
		{ 0xfffff01f, 0xd503301f, nothing },	   /* barriers */
		{ 0xfff8f01f, 0xd500401f, forget_flags },  /* of the state: cfinv */
		{ 0xfff80000, 0xd5080000, forget_memory }, /* dc zva stores */
		{ 0xfffff000, 0xd5233000, NULL },	   /* of transactions */
		{ 0xfff80000, 0xd5280000, forget },
		{ 0xffffffe0, 0xd53b4200, read_flags },
		{ 0xffffffe0, 0xd51b4200, write_flags },
		{ 0xffffffc0, 0xd53b2400, forget_both }, /* random numbers */
		{ 0xfff00000, 0xd5300000, forget },
		{ 0xfff00000, 0xd5100000, nothing },
	};

	return arm_machine_apply(rules, sizeof(rules) / sizeof(rules[0]), s);
}

bool arm_blur_vector(struct arm_step *s)
{
	static const struct arm_rule rules[] = {
		{ 0xfffffc00, 0x1e7e0000, forget_both }, /* fjcvtzs */
		/* Between these and general registers: from them, and to them. */
		{ 0x5f26fc00, 0x1e220000, nothing }, /* scvtf ucvtf */
		{ 0x5f27fc00, 0x1e270000, nothing }, /* fmov */
		{ 0x5f20fc00, 0x1e200000, forget },
		{ 0x5f260000, 0x1e020000, nothing }, /* of fixed point */
		{ 0x5f200000, 0x1e000000, forget },
		{ 0x5f20fc00, 0x1e202000, forget_flags }, /* fcmp */
		{ 0x5f200c00, 0x1e200400, forget_flags }, /* fccmp */
		{ 0xbfe0fc00, 0x0e002c00, forget },	  /* smov */
		{ 0xbfe0fc00, 0x0e003c00, forget },	  /* umov */
		{ 0, 0, nothing },
	};

	return arm_machine_apply(rules, sizeof(rules) / sizeof(rules[0]), s);
}

/* Some of them count in a general register or move the stack pointer, and set flags:
 * which is always in the same bits. */
static bool forget_any(struct arm_step *s)
{
	arm_machine_set_reg_or_sp(s, RD, 8, unknown);
	return forget_flags(s);
}

bool arm_blur_scalable(struct arm_step *s)
{
	static const struct arm_rule rules[] = {
		{ 0xfe000000, 0xe4000000, forget_memory }, /* stores */
		{ 0xfe000000, 0x84000000, nothing },	   /* loads */
		{ 0xde000000, 0x84000000, nothing },
		{ 0xbe000000, 0x84000000, nothing },
		{ 0, 0, forget_any },
	};

	return arm_machine_apply(rules, sizeof(rules) / sizeof(rules[0]), s);
}
