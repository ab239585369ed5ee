/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/last_stack.h"

static bool holds(const struct stack_memory *m, uint64_t slot, uint64_t value,
		  uint64_t mask)
{
	uint64_t word;

	return stack_memory_word(m, slot, &word) && (word & mask) == value;
}

static inline bool is_unchanged(const struct last_frame *f, const struct stack_memory *m,
				uint64_t pc_mask)
{
	const uint64_t all = ~UINT64_C(0);

	return f->pc_slot && holds(m, f->pc_slot, f->pc, pc_mask) &&
	       (!f->fp_slot || holds(m, f->fp_slot, f->fp, all)) &&
	       (!f->cfa_slot || holds(m, f->cfa_slot, f->sp, all));
}

size_t last_stack_verify(const struct last_stack *l, size_t from, size_t limit,
			 const struct stack_memory *m, uint64_t pc_mask)
{
	size_t i = from;

	for (; i && from - i < limit; i--)
		if (!is_unchanged(&l->frame[i - 1], m, pc_mask))
			break;
	return i;
}

void last_stack_take(struct last_stack *l, size_t from, size_t to)
{
	for (size_t i = from; i-- > to && l->n_fresh < LAST_STACK_MAX;)
		l->fresh[l->n_fresh++] = l->frame[i];
}

void last_stack_commit(struct last_stack *l, size_t n_kept, bool is_complete)
{
	size_t n = n_kept + l->n_fresh;

	l->n_unchanged = (uint32_t)n_kept;
	if (n > LAST_STACK_MAX) {
		l->n = l->n_fresh = l->n_unchanged = 0;
		return;
	}
	for (uint32_t i = 0; i < l->n_fresh; i++)
		l->frame[n - 1 - i] = l->fresh[i];
	l->n = (uint32_t)n;
	l->n_fresh = 0;
	l->is_complete = is_complete;
}
