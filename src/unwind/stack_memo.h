/* SPDX-License-Identifier: Apache-2.0
 *
 * stack_memo - whole stacks of a thread that were walked before, to be known again.
 *
 * A walk is a function of the registers that it begins with and of the words that it
 * reads.  One that would begin as another did, and read the same, need not be made: the
 * stack has the name that it got then.  That takes a load for each word, none of which
 * waits for another.  A stack is kept when it is met for the second time in turn, for
 * most of the many that a program has are not met again soon.
 *
 * Freestanding; one thread.  Zeroed memory is a valid empty one.
 */
#ifndef DWELL_UNWIND_STACK_MEMO_H
#define DWELL_UNWIND_STACK_MEMO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define STACK_MEMO_BITS	 6
#define STACK_MEMO_WAYS	 4
#define STACK_MEMO_WORDS 60

/* Where a walk begins, and for whom: whose is not 0, and names are of the same owner. */
struct stack_memo_start {
	uint64_t sp, pc, fp, whose;
};

struct stack_memo_stack {
	struct stack_memo_start start; /* .whose 0: none */
	uint64_t name;
	uint32_t n;
	bool goes_by_fp;	       /* or start.fp means nothing */
	uint32_t at[STACK_MEMO_WORDS]; /* in words above start.sp */
	uint64_t words[STACK_MEMO_WORDS];
};

/* Stacks that begin alike. */
struct stack_memo_set {
	uint64_t last_missed; /* name */
	uint32_t next;	      /* to be replaced */
	struct stack_memo_stack stacks[STACK_MEMO_WAYS];
};

struct stack_memo {
	struct stack_memo_set sets[1 << STACK_MEMO_BITS];
};

static inline struct stack_memo_set *stack_memo_set(struct stack_memo *m,
						    const struct stack_memo_start *s)
{
	uint64_t hash = (s->pc ^ s->sp << 16) * UINT64_C(0x9e3779b97f4a7c15);

	return &m->sets[hash >> (64 - STACK_MEMO_BITS)];
}

/* The stack itself is at start.sp. */
static inline bool stack_memo_holds(const struct stack_memo_stack *x)
{
	const char *sp = (const char *)(uintptr_t)x->start.sp;
	uint64_t word;

	for (uint32_t i = 0; i < x->n; i++) {
		memcpy(&word, sp + (size_t)x->at[i] * 8, 8);
		if (word != x->words[i])
			return false;
	}
	return true;
}

/* The name of the stack that a walk from there would find, 0: it is not known. */
static inline uint64_t stack_memo_find(struct stack_memo *m,
				       const struct stack_memo_start *s)
{
	const struct stack_memo_stack *x = stack_memo_set(m, s)->stacks;

	for (int i = 0; i < STACK_MEMO_WAYS; i++, x++)
		if (x->start.sp == s->sp && x->start.pc == s->pc &&
		    x->start.whose == s->whose &&
		    (!x->goes_by_fp || x->start.fp == s->fp) && stack_memo_holds(x))
			return x->name;
	return 0;
}

/* The walk from there found a stack of that name.  Where it is worth to be kept: empty,
 * to be filled and closed; else NULL. */
struct stack_memo_stack *stack_memo_open(struct stack_memo *m,
					 const struct stack_memo_start *s, uint64_t name);
/* The walk read value at an address.  False: there is no room for more, or it is below
 * the walk's beginning. */
bool stack_memo_add(struct stack_memo_stack *x, uint64_t addr, uint64_t value);
/* From now on it counts. */
void stack_memo_close(struct stack_memo_stack *x, uint64_t whose);

#endif
