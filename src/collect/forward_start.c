/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/forward_start.h"

#include "decode/arm_forward.h"
#include "decode/x86_forward.h"
#include "unwind/offline.h"

/* DWARF's numbers of the registers, in the instruction set's order. */
struct arch {
	forward_fn *walk;
	uint32_t flags;
	uint8_t n_regs, pc;
	uint8_t dwarf[FORWARD_N_REGS];
};

static const struct arch archs[] = {
	[UNWIND_X86_64] = { .walk = x86_forward,
			    .flags = X86_FORWARD_FLAGS,
			    .n_regs = 16,
			    .pc = UNWIND_X86_64_PC,
			    .dwarf = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14,
				       15 } },
	[UNWIND_AARCH64] = { .walk = arm_forward,
			     .flags = ARM_FORWARD_FLAGS,
			     .n_regs = 32,
			     .pc = UNWIND_AARCH64_PC,
			     .dwarf = { 0,  1,	2,  3,	4,  5,	6,  7,	8,  9,	10,
					11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
					22, 23, 24, 25, 26, 27, 28, 29, 30, 31 } },
};

forward_fn *forward_start(const struct unwind_regs *regs, uint64_t cpu_flags,
			  struct forward_state *ret)
{
	const struct arch *a = &archs[regs->arch];

	*ret = (struct forward_state){ .ip = regs->r[a->pc],
				       .flags = cpu_flags,
				       .known_flags = cpu_flags ? a->flags : 0 };
	for (unsigned i = 0; i < a->n_regs; i++) {
		ret->regs[i] = regs->r[a->dwarf[i]];
		ret->known_regs |= (uint32_t)(regs->valid >> a->dwarf[i] & 1) << i;
	}
	return a->walk;
}
