/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a graph with times and costs: whatever they are, nothing is negative or
 * without end, and what comes to a block leaves it. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/own.h"
#include "insn/flow_solve.h"

#define MAX_BLOCKS 100u
#define FEW	   8 /* blocks of which all is done twice */

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

struct input {
	const uint8_t *data;
	size_t size;
};

static uint64_t take(struct input *in, size_t n)
{
	uint64_t value = 0;

	n = n < in->size ? n : in->size;
	memcpy(&value, in->data, n);
	in->data += n;
	in->size -= n;
	return value;
}

/* Any double, also those that are no numbers. */
static double take_double(struct input *in)
{
	uint64_t bits = take(in, 2) << 48;
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static uint32_t take_place(struct input *in, uint32_t n)
{
	uint64_t i = take(in, 1);

	return i % (n + 1) == n ? FLOW_SOLVE_OUTSIDE : (uint32_t)(i % (n + 1));
}

static void check_flow(const struct flow_solve_problem *p, const struct flow_solve *s)
{
	own(freep) double *in = xcalloc(p->n_blocks + 1, sizeof(*in));
	own(freep) double *out = xcalloc(p->n_blocks + 1, sizeof(*out));

	for (uint32_t i = 0; i < p->n_ways; i++) {
		check(isfinite(s->of_way[i]) && s->of_way[i] >= 0);
		if (p->ways[i].to != FLOW_SOLVE_OUTSIDE)
			in[p->ways[i].to] += s->of_way[i];
		if (p->ways[i].from != FLOW_SOLVE_OUTSIDE)
			out[p->ways[i].from] += s->of_way[i];
	}
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		double near = 1e-6 * s->of_block[i] + 1e-280;

		check(isfinite(s->of_block[i]) && s->of_block[i] >= 0);
		check(fabs(in[i] + s->unknown_in[i] - s->of_block[i]) <= near);
		check(fabs(out[i] + s->unknown_out[i] - s->of_block[i]) <= near);
	}
}

static void solve(struct input *in, uint32_t n_blocks, double grain)
{
	own(freep) struct flow_solve_block *blocks = xcalloc(n_blocks, sizeof(*blocks));
	own(freep) struct flow_solve_way *ways = xcalloc(in->size + 1, sizeof(*ways));
	struct flow_solve_problem p = { .n_blocks = n_blocks,
					.blocks = blocks,
					.ways = ways,
					.grain = grain,
					.doubt = 0.5 };
	own(flow_solve_finip) struct flow_solve s, again = { 0 }, near = { 0 };

	for (uint32_t i = 0; i < n_blocks; i++) {
		uint64_t open = take(in, 1);

		blocks[i] = (struct flow_solve_block){ .time = take_double(in),
						       .cost = take_double(in),
						       .is_open_in = open & 1,
						       .is_open_out = open >> 1 & 1 };
	}
	while (in->size >= 4)
		ways[p.n_ways++] =
			(struct flow_solve_way){ .from = take_place(in, n_blocks),
						 .to = take_place(in, n_blocks),
						 .seen = take_double(in),
						 .likely = p.n_ways % 3 ? 0.03 : 0 };
	flow_solve_make(&s, &p);
	check_flow(&p, &s);
	if (n_blocks > FEW)
		return;
	flow_solve_make(&again, &p);
	check(memcmp(s.of_block, again.of_block, n_blocks * sizeof(*s.of_block)) == 0);
	for (uint32_t i = 0; i < n_blocks; i++)
		blocks[i].cost *= 1 + i % 3;
	p.near = &s;
	flow_solve_make(&near, &p);
	check_flow(&p, &near);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	if (size < 2 || size > 1400)
		return 0;

	uint32_t n_blocks = 1 + (uint32_t)take(&in, 1) % MAX_BLOCKS;

	solve(&in, n_blocks, take(&in, 1) & 1 ? 1 : 1e6);
	return 0;
}
