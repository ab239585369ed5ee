/* SPDX-License-Identifier: Apache-2.0
 *
 * abi - what an architecture's ABI fixes for stack walks, as one table each.
 *
 * Freestanding.  The tables are in the header so that a walker built for one
 * architecture has every number as a constant.
 */
#ifndef DWELL_UNWIND_ABI_H
#define DWELL_UNWIND_ABI_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/registers.h"

#define ABI_N_SAVES 8
#define ABI_NO_REG  0xff

struct abi {
	enum unwind_arch arch;
	uint8_t sp, fp, pc;
	uint8_t ra; /* the return address column of every CIE */
	/* Bytes below sp that no signal handler touches. */
	uint16_t red_zone;
	/* The frame that calls has its return address in a register at entry. */
	bool has_link_register;
	uint64_t callee_saved; /* mask of registers a call preserves, without sp */
	/* Registers whose save slots a compact row can hold; [0] the return address,
	 * [1] the frame pointer. */
	uint8_t saves[ABI_N_SAVES];
	/* The register that hands an exception to its handler, if rows tell that it is
	 * saved (landing.h): at CFA_ROW_EXTRA, in the place of saves[] that is
	 * ABI_NO_REG. */
	uint8_t landing;
	/* Significant bits of a code address: pointer authentication uses the others. */
	uint64_t pc_mask;
	/* In a signal trampoline: sp + this is the ucontext_t. */
	uint16_t trampoline_context;
	/* Offset of each register in ucontext_t. */
	uint16_t context[UNWIND_N_REGS];
	/* The code of the trampoline, for those without unwind table (musl, Go). */
	uint8_t trampoline_code[9], trampoline_code_size;
};

static const struct abi abi_x86_64 = {
	.arch = UNWIND_X86_64,
	.sp = UNWIND_X86_64_RSP,
	.fp = UNWIND_X86_64_RBP,
	.pc = UNWIND_X86_64_PC,
	.ra = UNWIND_X86_64_PC,
	.red_zone = 128,
	.callee_saved = 1u << 3 | 1u << 6 | 0xfu << 12,
	.saves = { 16, 6, 3, 12, 13, 14, 15, ABI_NO_REG },
	.landing = 0, /* rax */
	.pc_mask = ~UINT64_C(0),
	.context = { 144, 136, 152, 128, 112, 104, 120, 160, 40, 48, 56, 64, 72, 80, 88,
		     96, 168 },
	/* mov $15, %rax; syscall */
	.trampoline_code = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 },
	.trampoline_code_size = 9,
};

/* uc_mcontext is at 176 in ucontext_t, x0 eight bytes into it. */
#define ABI_X(n) (184 + 8 * (n))
static const struct abi abi_aarch64 = {
	.arch = UNWIND_AARCH64,
	.sp = UNWIND_AARCH64_SP,
	.fp = UNWIND_AARCH64_FP,
	.pc = UNWIND_AARCH64_PC,
	.ra = UNWIND_AARCH64_LR,
	.red_zone = 0,
	.has_link_register = true,
	.callee_saved = UINT64_C(0x7ff) << 19, /* x19-x29 */
	.saves = { 30, 29, 19, 20, 21, 22, 23, 24 },
	.landing = ABI_NO_REG,
	.pc_mask = (UINT64_C(1) << 48) - 1,
	.trampoline_context = 128, /* behind siginfo_t */
	.context = { ABI_X(0),	ABI_X(1),  ABI_X(2),  ABI_X(3),	 ABI_X(4),  ABI_X(5),
		     ABI_X(6),	ABI_X(7),  ABI_X(8),  ABI_X(9),	 ABI_X(10), ABI_X(11),
		     ABI_X(12), ABI_X(13), ABI_X(14), ABI_X(15), ABI_X(16), ABI_X(17),
		     ABI_X(18), ABI_X(19), ABI_X(20), ABI_X(21), ABI_X(22), ABI_X(23),
		     ABI_X(24), ABI_X(25), ABI_X(26), ABI_X(27), ABI_X(28), ABI_X(29),
		     ABI_X(30), ABI_X(31), ABI_X(32) },
	/* mov x8, #139; svc #0 */
	.trampoline_code = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 },
	.trampoline_code_size = 8,
};
#undef ABI_X

#if defined(__aarch64__)
#define ABI_NATIVE (&abi_aarch64)
#else
#define ABI_NATIVE (&abi_x86_64)
#endif

static inline const struct abi *abi_of(enum unwind_arch arch)
{
	return arch == UNWIND_AARCH64 ? &abi_aarch64 : &abi_x86_64;
}

static inline uint64_t abi_bit(unsigned reg)
{
	return UINT64_C(1) << reg;
}

#endif
