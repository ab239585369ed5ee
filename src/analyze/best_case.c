/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/best_case.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/function_code.h"
#include "base/mem.h"
#include "insn/path_cost.h"

struct path_laying {
	const struct function_code *c;
	uint32_t *leaving; /* ways */
	size_t n_leaving;
};

static double weight_of(const struct function_code *c, uint32_t way)
{
	if (c->ways[way].times >= 0)
		return c->ways[way].times;
	return 1 + (double)c->ways[way].told;
}

/* One of n ways, by how often each was taken; PROCEDURE_OUTSIDE: none was. */
static uint32_t choose_way(const struct function_code *c, const uint32_t *ways, size_t n,
			   struct path_cost_chance *chance)
{
	double sum = 0, at;

	for (size_t i = 0; i < n; i++)
		sum += weight_of(c, ways[i]);
	at = (double)path_cost_choose(chance, 1u << 30) / (1u << 30) * sum;
	for (size_t i = 0; i < n && sum > 0; i++) {
		at -= weight_of(c, ways[i]);
		if (at < 0)
			return ways[i];
	}
	return PROCEDURE_OUTSIDE;
}

static bool was_executed(const struct function_code_block *b)
{
	return b->times > 0 || b->samples;
}

/* Before it was entered, the processor was busy, too: with what left it before, for want
 * of anything better.  So it was where nobody knows who comes to a block, such as from
 * the function's part in another place. */
static uint32_t before(void *ctx, uint32_t block, struct path_cost_chance *chance)
{
	const struct path_laying *l = ctx;
	const struct procedure *p = l->c->procedure;
	const struct procedure_block *b = &p->blocks[block];
	uint32_t way = choose_way(l->c, p->ways_in + b->first_in, b->n_in, chance);

	if (way != PROCEDURE_OUTSIDE ? p->ways[way].from == PROCEDURE_OUTSIDE
				     : was_executed(&l->c->blocks[block]))
		way = choose_way(l->c, l->leaving, l->n_leaving, chance);
	return way == PROCEDURE_OUTSIDE ? PATH_COST_NONE : p->ways[way].from;
}

static bool is_jump(void *ctx, uint32_t block, uint32_t next)
{
	const struct path_laying *l = ctx;
	const struct procedure *p = l->c->procedure;

	return p->blocks[next].start != p->blocks[block].end;
}

/* It was left, and entered again: by a caller that is not looked at. */
static bool is_apart(void *ctx, uint32_t block, uint32_t next)
{
	const struct path_laying *l = ctx;
	const struct procedure *p = l->c->procedure;
	const struct procedure_block *b = &p->blocks[block];

	for (uint32_t i = b->first_out; i < b->first_out + b->n_out; i++)
		if (p->ways[i].to == next)
			return false;
	return true;
}

static double heat_of(const struct function_code_block *b)
{
	return b->times >= 0 ? b->times : (double)b->samples;
}

/* It need not be known much better than what is compared with it, which samples tell. */
static unsigned most_visits(const struct function_code *c)
{
	static const struct {
		uint64_t samples;
		unsigned visits;
	} enough[] = { { 20, 1 }, { 200, 4 } };

	for (size_t i = 0; c->samples && i < sizeof(enough) / sizeof(enough[0]); i++)
		if (c->samples < enough[i].samples)
			return enough[i].visits;
	return 0;
}

void best_case_schedule(struct function_code *c, bool is_draft)
{
	const struct procedure *p = c->procedure;
	own(freep) uint32_t *leaving = xcalloc(p->n_ways + 1, sizeof(*leaving));
	struct path_laying laying = { .c = c, .leaving = leaving };
	own(freep) struct operation *operations =
		xcalloc(p->n_steps + 1, sizeof(*operations));
	own(freep) uint32_t *first = xcalloc(p->n_blocks + 1, sizeof(*first));
	own(freep) uint32_t *n = xcalloc(p->n_blocks + 1, sizeof(*n));
	own(freep) double *heat = xcalloc(p->n_blocks + 1, sizeof(*heat));
	own(freep) double *cycles = xcalloc(p->n_steps + 1, sizeof(*cycles));
	own(freep) double(*waits)[SCHEDULE_N_WAITS] =
		xcalloc(p->n_steps + 1, sizeof(*waits));
	own(freep) uint32_t *waits_for = xcalloc(p->n_steps + 1, sizeof(*waits_for));

	for (uint32_t i = 0; i < p->n_ways; i++)
		if (p->ways[i].to == PROCEDURE_OUTSIDE)
			leaving[laying.n_leaving++] = i;
	for (uint32_t i = 0; i < p->n_steps; i++)
		operations[i] = c->steps[i].operation;
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		first[i] = p->blocks[i].first_step;
		n[i] = p->blocks[i].n_steps;
		heat[i] = heat_of(&c->blocks[i]) * n[i];
	}
	path_cost_measure(
		&(struct path_cost){
			.n_blocks = p->n_blocks,
			.operations = operations,
			.first = first,
			.n = n,
			.heat = heat,
			.is_draft = is_draft,
			.most_visits = most_visits(c),
			.cycles = cycles,
			.waits = waits,
			.waits_for = waits_for,
			.changed_by_calls = operation_changed_by_calls(c->model->machine),
			.ctx = &laying,
			.before = before,
			.is_jump = is_jump,
			.is_apart = is_apart },
		c->model);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		c->blocks[i].ideal = 0;
		for (uint32_t k = first[i]; k < first[i] + n[i]; k++) {
			c->steps[k].ideal = cycles[k];
			memcpy(c->steps[k].waits, waits[k], sizeof(waits[k]));
			c->steps[k].waits_for = waits_for[k];
			c->blocks[i].ideal += cycles[k];
		}
	}
}
