/* SPDX-License-Identifier: Apache-2.0
 *
 * cfa_row - the unwind rules at one pc in 16 bytes.
 *
 * What caches keep and what tables of rows (BPF, disk) consist of.  Any CFA register
 * fits; what does not fit is CFA_ROW_COMPLEX and is interpreted from the section.
 * Freestanding.
 */
#ifndef DWELL_UNWIND_CFA_ROW_H
#define DWELL_UNWIND_CFA_ROW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "unwind/abi.h"
#include "unwind/cfa_program.h"

enum cfa_row_kind {
	CFA_ROW_NONE = 0,     /* no rule here */
	CFA_ROW_CFA = 1,      /* CFA = reg + offset, save slots relative to the CFA */
	CFA_ROW_BASE = 2,     /* the same, save slots relative to reg */
	CFA_ROW_INDIRECT = 3, /* CFA = *(reg + offset), slots relative to reg, the
			       * return address at CFA - 8 */
	CFA_ROW_PLT = 4,      /* CFA = reg + 8, 8 more when pc % 16 >= offset */
	CFA_ROW_SIGNAL = 5,   /* trampoline: registers in the ucontext_t */
	CFA_ROW_END = 6,      /* outermost frame */
	CFA_ROW_COMPLEX = 7,
};

#define CFA_ROW_SAME	 127 /* save[]: the register was not touched */
#define CFA_ROW_LOST	 126 /* save[]: the register cannot be recovered */
#define CFA_ROW_SAVE_MAX 125
/* In save[], x86-64: where a frame that may land elsewhere has abi.landing; or, where
 * save[0] is CFA_ROW_SAME, the number of the register with the return address. */
#define CFA_ROW_EXTRA 7

struct cfa_row {
	uint32_t pc; /* in tables: offset of the first byte it covers; else 0 */
	uint32_t kind : 3;
	uint32_t reg : 5;
	int32_t offset : 24;
	int8_t save[ABI_N_SAVES]; /* 8-byte words, in the order of abi.saves */
};

_Static_assert(sizeof(struct cfa_row) == 16, "part of the table format");

/* The same rules, wherever they start. */
static inline bool cfa_row_is_same(const struct cfa_row *a, const struct cfa_row *b)
{
	return memcmp((const char *)a + sizeof(a->pc), (const char *)b + sizeof(b->pc),
		      sizeof(*a) - sizeof(a->pc)) == 0;
}

/* Is the return address in a register that is not the link register? */
static inline bool cfa_row_returns_by_register(const struct abi *abi,
					       const struct cfa_row *row)
{
	return !abi->has_link_register && row->save[0] == CFA_ROW_SAME;
}

/* Compile the rules of an FDE (they may refer to expressions in s). */
struct cfa_row cfa_row_from(const struct cfi_section *s, const struct cfi_fde *fde,
			    const struct cfa_rules *rules);

#endif
