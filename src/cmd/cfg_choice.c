/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cfg_choice.h"

#include <stdlib.h>

#include "base/mem.h"

/* A block, to be chosen from many. */
struct candidate {
	double cycles, times;
	uint32_t block;
};

static int most_first(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	if (x->times != y->times)
		return x->times > y->times ? -1 : 1;
	return (x->block > y->block) - (x->block < y->block);
}

/* Without exact counts nothing is known to be never executed. */
static bool was_executed(const struct function_code *c, uint32_t block)
{
	const struct function_code_block *b = &c->blocks[block];

	return c->count_column == FUNCTION_CODE_NONE || b->times > 0 || b->samples;
}

void cfg_choice_make(struct cfg_choice *ret, const struct function_code *c, bool all,
		     uint32_t n_most)
{
	const uint32_t n_blocks = c->procedure->n_blocks;
	own(freep) struct candidate *some = xcalloc(n_blocks + 1, sizeof(*some));
	uint32_t n = 0;

	*ret = (struct cfg_choice){ .is_in = xcalloc(n_blocks + 1, sizeof(bool)) };
	for (uint32_t i = 0; i < n_blocks; i++) {
		const struct function_code_block *b = &c->blocks[i];

		if (all || was_executed(c, i))
			some[n++] = (struct candidate){ b->cycles, b->times, i };
	}
	ret->n_unexecuted = n_blocks - n;
	if (!all && n_most && n > n_most) {
		qsort(some, n, sizeof(*some), most_first);
		ret->n_least = n - n_most;
		n = n_most;
	}
	for (uint32_t i = 0; i < n; i++)
		ret->is_in[some[i].block] = true;
}

void cfg_choice_fini(struct cfg_choice *c)
{
	free(c->is_in);
	c->is_in = NULL;
}
