/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_group.h"

#include <math.h>

#include "base/mem.h"

#define LEAST_SHARE                                                                      \
	0.4 /* of the more frequent one of two blocks: they are of a group               \
	     */

static uint32_t find(uint32_t *group, uint32_t block)
{
	while (group[block] != block) {
		group[block] = group[group[block]];
		block = group[block];
	}
	return block;
}

static void join(uint32_t *group, uint32_t a, uint32_t b)
{
	a = find(group, a);
	b = find(group, b);
	if (a < b)
		group[b] = a;
	else
		group[a] = b;
}

uint32_t *stall_group_find(const struct function_code *c)
{
	const struct procedure *p = c->procedure;
	uint32_t *group = xcalloc(p->n_blocks + 1, sizeof(*group));

	for (uint32_t i = 0; i < p->n_blocks; i++)
		group[i] = i;
	for (uint32_t i = 0; i < p->n_ways; i++) {
		const struct procedure_way *w = &p->ways[i];
		double times = c->ways[i].times;

		if (w->from == PROCEDURE_OUTSIDE || w->to == PROCEDURE_OUTSIDE ||
		    times <= 0)
			continue;
		if (times >=
		    LEAST_SHARE * fmax(c->blocks[w->from].times, c->blocks[w->to].times))
			join(group, w->from, w->to);
	}
	for (uint32_t i = 0; i < p->n_blocks; i++)
		group[i] = find(group, i);
	return group;
}
