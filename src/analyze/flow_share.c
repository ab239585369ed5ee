/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/flow_share.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/own.h"
#include "insn/procedure.h"

#define ABOUT 1.02 /* as often: no more than so much more, or less */

struct part {
	uint32_t block;
	double often;
	double before; /* executions of instructions, of those that come first */
};

static int by_often(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	if (x->often != y->often)
		return x->often < y->often ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

void flow_share_make(const struct procedure *p, const double *often, double *ret)
{
	own(freep) struct part *parts = xcalloc((size_t)p->n_blocks + 1, sizeof(*parts));
	uint32_t low = 0, high = 0, n = p->n_blocks;
	double all = 0;

	for (uint32_t i = 0; i < n; i++)
		parts[i] = (struct part){ .block = i, .often = often[i] };
	qsort(parts, n, sizeof(*parts), by_often);
	for (uint32_t i = 0; i < n; i++) {
		parts[i].before = all;
		all += parts[i].often * p->blocks[parts[i].block].n_steps;
	}
	parts[n].before = all;
	for (uint32_t i = 0; i < n; i++) {
		while (parts[low].often * ABOUT < parts[i].often)
			low++;
		while (high < n && parts[high].often <= parts[i].often * ABOUT)
			high++;
		ret[parts[i].block] =
			all > 0 ? (parts[high].before - parts[low].before) / all : 0;
	}
}
