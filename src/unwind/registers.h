/* SPDX-License-Identifier: Apache-2.0
 *
 * registers - the register file a stack walk starts from and carries along.
 *
 * Freestanding.  Numbers are DWARF's, so that unwind rules apply directly.
 */
#ifndef DWELL_UNWIND_REGISTERS_H
#define DWELL_UNWIND_REGISTERS_H

#include <stdint.h>

enum unwind_arch { UNWIND_X86_64, UNWIND_AARCH64 };

/* Registers by DWARF number: x86-64 0-15 and 16 = pc; aarch64 0-30, 31 = sp, 32 = pc. */
#define UNWIND_N_REGS 33

/* In valid, bit i of general register i: r[i] was known in a frame further in, and no
 * rule says that it changed since, but a call may destroy it. */
#define UNWIND_PRESUMED(i) (UINT64_C(1) << (UNWIND_N_REGS + (i)))
#define UNWIND_N_PRESUMED  (64 - UNWIND_N_REGS)

struct unwind_regs {
	enum unwind_arch arch;
	uint64_t valid; /* bit i: r[i] is known; see also UNWIND_PRESUMED */
	uint64_t r[UNWIND_N_REGS];
};

#define UNWIND_X86_64_RBP 6
#define UNWIND_X86_64_RSP 7
#define UNWIND_X86_64_PC  16
#define UNWIND_AARCH64_FP 29
#define UNWIND_AARCH64_LR 30
#define UNWIND_AARCH64_SP 31
#define UNWIND_AARCH64_PC 32

#endif
