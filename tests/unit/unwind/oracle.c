/* SPDX-License-Identifier: Apache-2.0 */
#include "oracle.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>

size_t oracle_walk(const ucontext_t *uc, uint64_t pcs[ORACLE_MAX])
{
	unw_cursor_t cursor;
	size_t n = 0;

	if (unw_init_local2(&cursor, (unw_context_t *)uc, UNW_INIT_SIGNAL_FRAME) < 0)
		return 0;
	do {
		unw_word_t ip = 0;

		unw_get_reg(&cursor, UNW_REG_IP, &ip);
		if (!ip)
			break;
		pcs[n++] = ip;
	} while (n < ORACLE_MAX && unw_step(&cursor) > 0);
	return n;
}

struct unwind_regs oracle_regs(const ucontext_t *uc)
{
	static const int order[] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
				     REG_RBP, REG_RSP, REG_R8,	REG_R9,	 REG_R10, REG_R11,
				     REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };
	struct unwind_regs regs = { .arch = UNWIND_X86_64, .valid = (1 << 17) - 1 };

	for (int i = 0; i < 17; i++)
		regs.r[i] = (uint64_t)uc->uc_mcontext.gregs[order[i]];
	return regs;
}
