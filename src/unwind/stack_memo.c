/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/stack_memo.h"

struct stack_memo_stack *stack_memo_open(struct stack_memo *m,
					 const struct stack_memo_start *s, uint64_t name)
{
	struct stack_memo_set *set = stack_memo_set(m, s);
	struct stack_memo_stack *x;

	if (set->last_missed != name) {
		set->last_missed = name;
		return NULL;
	}
	x = &set->stacks[set->next++ % STACK_MEMO_WAYS];
	x->start.whose = 0;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* whoever jumps out leaves none */
	x->start = (struct stack_memo_start){ s->sp, s->pc, s->fp, 0 };
	x->name = name;
	x->n = 0;
	x->goes_by_fp = false;
	return x;
}

bool stack_memo_add(struct stack_memo_stack *x, uint64_t addr, uint64_t value)
{
	uint64_t off = addr - x->start.sp;

	if (x->n == STACK_MEMO_WORDS || off % 8 || off / 8 > UINT32_MAX)
		return false;
	x->at[x->n] = (uint32_t)(off / 8);
	x->words[x->n++] = value;
	return true;
}

void stack_memo_close(struct stack_memo_stack *x, uint64_t whose)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	x->start.whose = whose;
}
