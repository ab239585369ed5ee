/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
 *
 * landing - walks through an unwinder that is about to land in an exception's handler.
 *
 * Its frame has the return address of the handler's function already, whose stack pointer
 * is behind the place that the address was copied from: unwind/landing.h tells it whole.
 * A walk that ends early behind such a frame goes back there.
 */
#ifndef DWELL_COLLECT_BPF_LANDING_BPF_H
#define DWELL_COLLECT_BPF_LANDING_BPF_H

#include "collect/bpf/walk_state.bpf.h"
#include "wire/stack_record.h"
#include "wire/stack_rows.h"

#define LANDING_WORDS 512

/* The walk has stepped by this rule; the first who may land is the one who does. */
static __always_inline void landing_note(struct walk *w, const struct stack_rule *r)
{
	struct walk_landing *l = &w->landing;

	if (REGISTERS_HAS_LINK || r->kind != STACK_RULE_CFA ||
	    r->save[0] == STACK_RULE_SAME ||
	    r->save[STACK_RULE_EXTRA] >= STACK_RULE_LOST || l->n)
		return;
	l->n = w->n;
	l->pc = w->pc;
	l->sp = w->sp;
	l->hash = w->hash;
	l->has_address = w->has_address;
	l->is_saved = w->is_saved;
	l->is_lost = w->is_lost;
	for (uint32_t i = 0; i < STACK_ROWS_N_SAVES; i++)
		l->saved[i] = w->saved[i];
}

static long landing_look(uint32_t i, struct walk **ctx)
{
	struct walk *w = *ctx;
	uint64_t word, at = w->landing.sp + i * sizeof(word);

	if (bpf_probe_read_user(&word, sizeof(word), (const void *)at))
		return 1;
	if (word != w->landing.pc)
		return 0;
	w->sp = at + sizeof(word);
	return 1;
}

/* The walk has ended: does it go on from where it may have gone wrong? */
static __noinline bool landing_back(struct walk *w)
{
	struct walk_landing *l = &w->landing;
	uint32_t n = l->n;

	/* An end without a rule for it may be a word that is no return address. */
	if ((w->stop == STACK_STOP_END && w->pc) || w->stop == STACK_STOP_LIMIT ||
	    w->stop == STACK_STOP_NOT_LOADED)
		return false;
	l->n = 0;
	w->sp = l->sp;
	bpf_loop(LANDING_WORDS, landing_look, &w, 0);
	if (w->sp == l->sp)
		return false;
	walk_note_more(w);
	w->n = n;
	w->pc = l->pc;
	w->hash = l->hash;
	w->has_address = l->has_address;
	w->is_exact = 0;
	w->is_saved = l->is_saved;
	w->is_lost = l->is_lost;
	for (uint32_t i = 0; i < STACK_ROWS_N_SAVES; i++)
		w->saved[i] = l->saved[i];
	return true;
}

#endif
