/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "insn/machine_model.h"

#define LINE_BITS   6 /* of an address: those of a cache line, of a page */
#define PAGE_BITS   12
#define LEAST	    0.5 /* cycles each time, and of the function's: less is no stall */
#define LEAST_SHARE 0.005
#define LEAST_PART  0.05 /* of what is to be explained: less rules a cause out */
#define MIN_SAMPLES 8	 /* fewer may be chance */
#define LOOK_BACK   24	 /* instructions, for a store */
/* Behind a branch that was not foreseen, so many instructions have to begin anew. */
#define EXPOSED 6
/* Cycles from a branch's retirement until what follows it retires, when it was foreseen
 * wrongly: 14 to 15 on Zen 4 (loops of branches by chance), up to 20 by makers' guides.
 */
#define REFILL 20.0

static const char *const texts[STALL_N_CAUSES] = {
#define CAUSE(name, text) [STALL_##name] = text,
#include "analyze/stall_causes.def"
#undef CAUSE
};

const char *stall_cause_text(enum stall_cause cause)
{
	return texts[cause];
}

void stall_fini(struct stalls *s)
{
	free(s->of_step);
	free(s->of_arrival);
	*s = (struct stalls){ 0 };
}

/* Again: the larger bound holds. */
static void add(struct stall *s, enum stall_cause cause, uint32_t blamed, double most)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct stall_culprit *have = &s->culprits[i];

		if (have->cause != cause || have->blamed != blamed)
			continue;
		have->most = have->most < 0 || most < 0 ? -1 : fmax(have->most, most);
		return;
	}
	if (s->n < STALL_MAX_CULPRITS)
		s->culprits[s->n++] =
			(struct stall_culprit){ (uint8_t)cause, blamed, most };
}

/* What the instruction is. */

static bool is_class(const struct operation *o, unsigned first, unsigned last)
{
	return o->class >= first && o->class <= last;
}

static bool divides(const struct operation *o)
{
	return is_class(o, OPERATION_DIVIDE_32, OPERATION_DIVIDE_64) ||
	       is_class(o, OPERATION_FP_DIVIDE_SINGLE, OPERATION_FP_ROOT_DOUBLE) ||
	       o->class == OPERATION_X87_DIVIDE || o->class == OPERATION_X87_SLOW;
}

static bool synchronises(const struct operation *o)
{
	return is_class(o, OPERATION_ATOMIC, OPERATION_FENCE) ||
	       o->class == OPERATION_SERIALIZE || o->class == OPERATION_SYSTEM ||
	       (o->class == OPERATION_EXCHANGE && o->loads);
}

static bool loads(const struct operation *o)
{
	return o->loads || o->pops;
}

static bool stores(const struct operation *o)
{
	return o->stores || o->pushes;
}

/* From the same base on; without indices their distance is known. */
static bool may_overlap(const struct operation *store, const struct operation *load)
{
	bool has_index =
		store->index != OPERATION_NO_REG || load->index != OPERATION_NO_REG;

	if (!store->has_memory || !load->has_memory || store->base != load->base ||
	    store->base == OPERATION_NO_REG)
		return false;
	return has_index || (store->disp < load->disp + load->width &&
			     load->disp < store->disp + store->width);
}

/* The last store before `from`, back to `first`, that the load may have to wait for. */
static uint32_t store_before(const struct function_code *c, uint32_t first, uint32_t from,
			     const struct operation *load)
{
	for (uint32_t i = from; i > first && from - i < LOOK_BACK; i--) {
		const struct operation *o = &c->steps[i - 1].operation;

		if (stores(o) && may_overlap(o, load))
			return i - 1;
		if (load->base < OPERATION_REG_VECTOR && (o->writes >> load->base & 1))
			break;
	}
	return PROCEDURE_OUTSIDE;
}

static bool is_loop(const struct procedure *p, const struct procedure_block *b)
{
	for (uint32_t i = b->first_out; i < b->first_out + b->n_out; i++)
		if (p->ways[i].to != PROCEDURE_OUTSIDE && &p->blocks[p->ways[i].to] == b)
			return true;
	return false;
}

/* In the block, or in its turn before. */
static uint32_t forwarded_by(const struct function_code *c,
			     const struct procedure_block *b, uint32_t step)
{
	const struct operation *load = &c->steps[step].operation;
	uint32_t store = store_before(c, b->first_step, step, load);

	if (store == PROCEDURE_OUTSIDE && is_loop(c->procedure, b))
		store = store_before(c, step, b->first_step + b->n_steps, load);
	return store;
}

static bool is_call(const struct code_step *s)
{
	return s->flow == CODE_STEP_CALL || s->flow == CODE_STEP_CALL_TO;
}

/* What landed behind a call came back from it. */
static void blame_return(struct stall *s)
{
	add(s, STALL_BRANCH, PROCEDURE_OUTSIDE, REFILL);
	add(s, STALL_ICACHE, PROCEDURE_OUTSIDE, -1);
	add(s, STALL_OTHER, PROCEDURE_OUTSIDE, -1);
}

static void blame_operation(const struct function_code *c, struct stall *s,
			    const struct procedure_block *b, uint32_t step)
{
	const struct operation *o = &c->steps[step].operation;

	if (is_call(&c->procedure->steps[step])) {
		blame_return(s);
		return;
	}
	if (loads(o)) {
		uint32_t store = forwarded_by(c, b, step);

		add(s, STALL_DCACHE, step, -1);
		add(s, STALL_DTLB, step, -1);
		if (store != PROCEDURE_OUTSIDE)
			add(s, STALL_FORWARD, store, -1);
	}
	if (stores(o))
		add(s, STALL_STORES, step, -1);
	if (divides(o))
		add(s, STALL_DIVIDER, step, -1);
	if (synchronises(o))
		add(s, STALL_SYNC, step, -1);
}

/* The second one could not be had in time. */
static void blame_line(const struct function_code *c, struct stall *s, uint32_t step)
{
	const struct code_step *now = &c->procedure->steps[step], *next = now + 1;
	uint64_t last = next->address + next->size - 1;

	if (last >> LINE_BITS != now->address >> LINE_BITS)
		add(s, STALL_ICACHE, PROCEDURE_OUTSIDE, -1);
	if (last >> PAGE_BITS != now->address >> PAGE_BITS)
		add(s, STALL_ITLB, PROCEDURE_OUTSIDE, -1);
}

/* Where there is nothing to retire, because nothing comes, some processors take the
 * interrupt at once, and some when something has come. */
static void blame_neighbours(const struct function_code *c, struct stall *s,
			     const struct procedure_block *b, uint32_t step)
{
	bool is_last = step + 1 == b->first_step + b->n_steps;

	if (step > b->first_step)
		blame_line(c, s, step - 1);
	if (is_last || is_call(&c->procedure->steps[step]))
		return;
	if (stores(&c->steps[step + 1].operation))
		add(s, STALL_STORES, step + 1, -1);
	blame_line(c, s, step);
}

/* The way to a block. */

static double weight_of(const struct function_code *c, uint32_t way)
{
	return c->ways[way].times > 0 ? c->ways[way].times : 0;
}

/* Of those who came by this way: so many may have come unforeseen. */
static double unforeseen(const struct function_code *c, uint32_t way)
{
	const struct procedure *p = c->procedure;
	uint32_t from = p->ways[way].from;
	double own = weight_of(c, way), others = 0;

	if (from == PROCEDURE_OUTSIDE)
		return 1;
	if (p->blocks[from].end_kind != PROCEDURE_END_BRANCH &&
	    p->blocks[from].end_kind != PROCEDURE_END_INDIRECT)
		return 0;
	for (uint32_t i = p->blocks[from].first_out;
	     i < p->blocks[from].first_out + p->blocks[from].n_out; i++)
		others += i == way ? 0 : weight_of(c, i);
	return own > 0 ? fmin(1, others / own) : 0;
}

static void blame_fetch(const struct function_code *c, struct stall *s,
			const struct procedure_way *w, uint32_t block)
{
	const struct procedure *p = c->procedure;
	uint64_t start = p->blocks[block].start, from;

	if (w->from == PROCEDURE_OUTSIDE) {
		add(s, STALL_ICACHE, PROCEDURE_OUTSIDE, -1);
		add(s, STALL_ITLB, PROCEDURE_OUTSIDE, -1);
		return;
	}
	from = p->blocks[w->from].end - 1;
	if (start >> LINE_BITS != from >> LINE_BITS)
		add(s, STALL_ICACHE, PROCEDURE_OUTSIDE, -1);
	if (start >> PAGE_BITS != from >> PAGE_BITS)
		add(s, STALL_ITLB, PROCEDURE_OUTSIDE, -1);
}

/* The last instruction there, with the one that is fused with it. */
static void blame_end(const struct function_code *c, struct stall *s, uint32_t block)
{
	const struct procedure_block *b = &c->procedure->blocks[block];
	uint32_t last = b->first_step + b->n_steps - 1;

	blame_operation(c, s, b, last);
	if (last > b->first_step && c->steps[last - 1].operation.may_fuse_with_branch)
		blame_operation(c, s, b, last - 1);
}

/* is_before: nothing of the block was under way, and what led there may not be done. */
static void blame_ways(const struct function_code *c, struct stall *s, uint32_t block,
		       bool is_before)
{
	const struct procedure *p = c->procedure;
	const struct procedure_block *b = &p->blocks[block];
	double all = 0;

	for (uint32_t i = 0; i < b->n_in; i++)
		all += weight_of(c, p->ways_in[b->first_in + i]);
	for (uint32_t i = 0; i < b->n_in && all > 0; i++) {
		uint32_t way = p->ways_in[b->first_in + i], from = p->ways[way].from;
		double share = weight_of(c, way) / all;
		double bound = share * unforeseen(c, way) * REFILL;

		if (share < LEAST_PART)
			continue;
		if (bound >= LEAST_PART * s->cycles)
			add(s, STALL_BRANCH,
			    from == PROCEDURE_OUTSIDE
				    ? PROCEDURE_OUTSIDE
				    : p->blocks[from].first_step +
					      p->blocks[from].n_steps - 1,
			    bound);
		blame_fetch(c, s, &p->ways[way], block);
		if (is_before && from != PROCEDURE_OUTSIDE)
			blame_end(c, s, from);
	}
}

/* How long. */

static bool counts(const struct function_code *c, double each, double times)
{
	return each >= LEAST && each * times >= LEAST_SHARE * c->cycles;
}

static double excess_of(const struct function_code_step *s)
{
	double beyond = s->times > 0 ? s->cycles / s->times - s->ideal : 0;

	return beyond > 0 ? beyond : 0;
}

/* The share of what instructions took too long that others did not take less. */
static double part_of(const struct function_code *c, uint32_t block, double arrival)
{
	const struct procedure_block *b = &c->procedure->blocks[block];
	const struct function_code_block *n = &c->blocks[block];
	double sum = arrival, beyond = n->cycles / n->times - n->ideal;

	for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++)
		sum += excess_of(&c->steps[i]);
	return sum > 0 && beyond > 0 ? fmin(1, beyond / sum) : 0;
}

static void find_in_block(struct stalls *ret, const struct function_code *c,
			  uint32_t block)
{
	const struct procedure_block *b = &c->procedure->blocks[block];
	const struct function_code_block *n = &c->blocks[block];
	double arrival = n->arrival / n->times, part = part_of(c, block, arrival);
	uint32_t end = b->first_step + b->n_steps;

	if (counts(c, arrival * part, n->times)) {
		ret->of_arrival[block].cycles = arrival * part;
		blame_ways(c, &ret->of_arrival[block], block, true);
	}
	for (uint32_t i = b->first_step; i < end; i++) {
		struct stall *s = &ret->of_step[i];

		if (!counts(c, excess_of(&c->steps[i]) * part, n->times))
			continue;
		s->cycles = excess_of(&c->steps[i]) * part;
		blame_operation(c, s, b, i);
		blame_neighbours(c, s, b, i);
		if (i < b->first_step + EXPOSED)
			blame_ways(c, s, block, false);
	}
}

/* Nothing is without a cause, in whole. */
static void settle(struct stall *s)
{
	double most = 0;

	for (unsigned i = 0; i < s->n; i++) {
		if (s->culprits[i].most < 0)
			return;
		most += s->culprits[i].most;
	}
	if (most < s->cycles)
		add(s, STALL_OTHER, PROCEDURE_OUTSIDE, -1);
}

void stall_find(struct stalls *ret, const struct function_code *c)
{
	const struct procedure *p = c->procedure;

	ret->of_step = xcalloc(p->n_steps + 1, sizeof(*ret->of_step));
	ret->of_arrival = xcalloc(p->n_blocks + 1, sizeof(*ret->of_arrival));
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (c->blocks[i].times > 0 && c->blocks[i].ideal >= 0 &&
		    c->blocks[i].samples >= MIN_SAMPLES)
			find_in_block(ret, c, i);
	for (uint32_t i = 0; i < p->n_steps; i++)
		settle(&ret->of_step[i]);
	for (uint32_t i = 0; i < p->n_blocks; i++)
		settle(&ret->of_arrival[i]);
}
