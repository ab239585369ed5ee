/* SPDX-License-Identifier: Apache-2.0
 *
 * landing - the frame of an unwinder that is about to land in an exception's handler.
 *
 * It lands by returning from its own frame, where it writes the registers that the
 * handler's function shall have over those that it saved, and the place in that function
 * over its return address.  From then on the handler's function is its caller, but that
 * one's stack pointer is further up: behind the place that the return address was copied
 * from.  Nothing tells such a moment from others, so a walk goes on as ever, and only one
 * that ends early goes back.  x86-64, where calls push their return address.
 *
 * Freestanding.
 */
#ifndef DWELL_UNWIND_LANDING_H
#define DWELL_UNWIND_LANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/abi.h"
#include "unwind/cfa_row.h"
#include "unwind/stack_memory.h"
#include "unwind/stop.h"

/* How far up it is looked for: throws through larger frames end early. */
#define LANDING_BYTES 4096

struct landing {
	size_t n;		 /* frames up to the one that may land; 0: none was met */
	struct unwind_regs regs; /* behind it */
};

/* Only who lands elsewhere saves the register that hands over the exception. */
static inline bool landing_is_possible(const struct abi *abi, const struct cfa_row *row)
{
	return abi->landing != ABI_NO_REG && row->kind == CFA_ROW_CFA &&
	       row->save[0] != CFA_ROW_SAME &&
	       row->save[CFA_ROW_EXTRA] <= CFA_ROW_SAVE_MAX;
}

/* The walk has stepped out of such a frame, its nth. */
static inline void landing_note(struct landing *l, size_t n, const struct unwind_regs *g)
{
	if (l->n)
		return;
	l->n = n;
	l->regs = *g;
}

/* May the walk that ended so, with these registers, go back, and is there where to?  Then
 * *g is where it goes on, behind as many frames. */
static inline size_t landing_back(struct landing *l, const struct abi *abi,
				  enum unwind_stop stop, const struct stack_memory *m,
				  struct unwind_regs *g)
{
	uint64_t sp = l->regs.r[abi->sp], pc = l->regs.r[abi->pc], word;
	size_t n = l->n;

	/* An end without a rule for it may be a word that is no return address. */
	if (!n || stop == UNWIND_LIMIT || (stop == UNWIND_END && g->r[abi->pc]))
		return 0;
	l->n = 0;
	for (uint64_t at = sp; at - sp < LANDING_BYTES; at += 8) {
		if (!stack_memory_word(m, at, &word))
			return 0;
		if (word != pc)
			continue;
		*g = l->regs;
		g->r[abi->sp] = at + 8;
		return n;
	}
	return 0;
}

#endif
