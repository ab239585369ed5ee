/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/stall_loop.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* In larger functions no block is known to be in a loop: it would be sought for each. */
#define MAX_BLOCKS 20000
#define LINE_BYTES 64u
#define PAGE_BYTES 4096u
#define FREQUENT   0.01 /* of the block's times: ways that the loop is made of */
#define LOOK_BACK  32	/* instructions, for one that was at the same place */
/* What a loop may do without driving out what it uses again: half of a cache of 32 KB
 * with eight ways, and of 64 pages. */
#define HELD_LINES    256
#define HELD_PAGES    32
#define HELD_ACCESSES 16

/* As FREQUENT, of the loops around it. */
static const double wider[] = { FREQUENT / 100, 0 };

/* Blocks that are reached from, or reach, the first of the list over frequent ways:
 * marked with a bit. */
static void spread(const struct function_code *c, uint32_t block, double frequent,
		   bool is_back, uint8_t *marks)
{
	const struct procedure *p = c->procedure;
	const uint8_t bit = is_back ? 2 : 1;
	own(freep) uint32_t *todo = xcalloc(p->n_blocks + 1, sizeof(*todo));
	uint32_t n = 0;

	todo[n++] = block;
	while (n) {
		const struct procedure_block *b = &p->blocks[todo[--n]];
		uint32_t n_ways = is_back ? b->n_in : b->n_out;

		for (uint32_t i = 0; i < n_ways; i++) {
			uint32_t way =
				is_back ? p->ways_in[b->first_in + i] : b->first_out + i;
			uint32_t next = is_back ? p->ways[way].from : p->ways[way].to;

			if (next == PROCEDURE_OUTSIDE || marks[next] & bit ||
			    function_code_taken(c, way) <= 0 ||
			    function_code_taken(c, way) <
				    frequent * c->blocks[block].times)
				continue;
			marks[next] |= bit;
			todo[n++] = next;
		}
	}
}

/* Blocks come by address. */
static void add_code(struct stall_loop *l, const struct procedure_block *b)
{
	uint64_t last = b->end > b->start ? b->end - 1 : b->start;

	l->n_lines += (uint32_t)(last / LINE_BYTES - b->start / LINE_BYTES);
	l->n_pages += (uint32_t)(last / PAGE_BYTES - b->start / PAGE_BYTES);
	l->n_lines += b->start / LINE_BYTES != l->last_code / LINE_BYTES;
	l->n_pages += b->start / PAGE_BYTES != l->last_code / PAGE_BYTES;
	l->last_code = last;
}

static void add_block(struct stall_loop *l, uint32_t block, const uint8_t *marks)
{
	const struct procedure *p = l->c->procedure;
	const struct procedure_block *b = &p->blocks[block];
	double own = l->c->blocks[l->block].times;

	l->blocks[l->n_blocks++] = block;
	add_code(l, b);
	for (uint32_t i = 0; i < b->n_in; i++) {
		uint32_t way = p->ways_in[b->first_in + i], from = p->ways[way].from;

		if (from == PROCEDURE_OUTSIDE || marks[from] != 3)
			l->entries += function_code_taken(l->c, way) / own;
	}
	for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++) {
		const struct operation *o = &l->c->steps[i].operation;

		l->has_calls |= code_step_is_call(&p->steps[i]);
		l->accesses +=
			o->loads || o->stores ? l->c->blocks[block].times / own : 0;
	}
}

static void find(struct stall_loop *ret, const struct function_code *c, uint32_t block,
		 double frequent)
{
	uint32_t n = c->procedure->n_blocks;
	own(freep) uint8_t *marks = NULL;

	*ret = (struct stall_loop){ .c = c, .block = block };
	if (c->blocks[block].times <= 0 || n > MAX_BLOCKS)
		return;
	marks = xcalloc(n + 1, 1);
	spread(c, block, frequent, false, marks);
	spread(c, block, frequent, true, marks);
	ret->is_loop = marks[block] == 3;
	if (!ret->is_loop)
		return;
	ret->blocks = xcalloc(n, sizeof(*ret->blocks));
	for (uint32_t i = 0; i < n; i++)
		if (marks[i] == 3)
			add_block(ret, i, marks);
}

static bool holds_code(const struct stall_loop *l)
{
	return l->is_loop && !l->has_calls && l->n_lines <= HELD_LINES &&
	       l->n_pages <= HELD_PAGES;
}

void stall_loop_find(struct stall_loop *ret, const struct function_code *c,
		     uint32_t block)
{
	find(ret, c, block, FREQUENT);
	ret->code_entries = ret->entries;
	if (!holds_code(ret))
		return;
	for (size_t i = 0; i < sizeof(wider) / sizeof(wider[0]) && ret->entries > 0;
	     i++) {
		struct stall_loop around;

		find(&around, c, block, wider[i]);
		if (holds_code(&around))
			ret->code_entries = fmin(ret->code_entries, around.entries);
		stall_loop_fini(&around);
	}
}

void stall_loop_fini(struct stall_loop *l)
{
	free(l->blocks);
	*l = (struct stall_loop){ 0 };
}

/* How a register changes each time of the block; false: nobody knows. */
static bool stride_of(const struct stall_loop *l, uint8_t reg, double *ret)
{
	const struct procedure *p = l->c->procedure;
	double own = l->c->blocks[l->block].times;

	*ret = 0;
	if (reg >= OPERATION_N_GENERAL)
		return false;
	for (uint32_t k = 0; k < l->n_blocks; k++) {
		const struct procedure_block *b = &p->blocks[l->blocks[k]];
		double each = l->c->blocks[l->blocks[k]].times / own;

		for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++) {
			const struct operation *o = &l->c->steps[i].operation;

			if (code_step_is_call(&p->steps[i]) &&
			    p->machine->changed_by_calls >> reg & 1)
				return false;
			if (!operation_has_register(o->writes, reg))
				continue;
			if (o->from != reg || o->to != reg)
				return false;
			*ret += (double)o->offset * each;
		}
	}
	return true;
}

/* Frames are where others were before. */
static bool is_in_frame(const struct operation *o)
{
	return o->pushes || o->pops || o->is_in_frame;
}

static struct stall_reach at_most(double lines, double pages, bool is_fixed)
{
	lines = fmin(1, lines);
	pages = fmin(1, pages);
	return (struct stall_reach){ .lines = lines,
				     .pages = pages,
				     .far_lines = lines,
				     .far_pages = pages,
				     .is_fixed = is_fixed };
}

static bool is_same_base(const struct operation *a, const struct operation *b)
{
	return a->base == b->base && a->index == b->index && a->scale == b->scale &&
	       a->has_segment == b->has_segment && a->is_ip_relative == b->is_ip_relative;
}

/* The block that is the only one before; PROCEDURE_OUTSIDE: there are several. */
static uint32_t only_one_before(const struct procedure *p,
				const struct procedure_block *b)
{
	if (b->n_in != 1 || b->has_unknown_ways_in)
		return PROCEDURE_OUTSIDE;
	return p->ways[p->ways_in[b->first_in]].from;
}

/* How far from it another instruction was right before, in bytes; negative: none was
 * that is known. */
static double distance_before(const struct stall_loop *l, uint32_t step)
{
	const struct procedure *p = l->c->procedure;
	const struct operation *of = &l->c->steps[step].operation;
	uint32_t own = procedure_block_at(p, p->steps[step].address), block = own;
	uint32_t i = step;
	double least = -1;

	for (unsigned n = 0; n < LOOK_BACK && own != PROCEDURE_OUTSIDE; n++) {
		const struct operation *o;

		while (i == p->blocks[block].first_step) {
			block = only_one_before(p, &p->blocks[block]);
			if (block == PROCEDURE_OUTSIDE || block == own ||
			    n++ >= LOOK_BACK)
				return least;
			i = p->blocks[block].first_step + p->blocks[block].n_steps;
		}
		o = &l->c->steps[--i].operation;
		if ((o->writes & of->address) != 0 || code_step_is_call(&p->steps[i]))
			/* A load may replace its own base; then it was its place. */
			return least;
		if ((o->loads || o->stores) && o->has_memory && is_same_base(o, of)) {
			double far = fabs((double)(o->disp - of->disp));

			least = least < 0 ? far : fmin(least, far);
		}
	}
	return least;
}

static struct stall_reach reach_in_loop(const struct stall_loop *l,
					const struct operation *o)
{
	double base = 0, index = 0, stride;
	bool is_held = !l->has_calls && l->accesses <= HELD_ACCESSES;

	if (!l->is_loop || o->class == OPERATION_GATHER || o->class == OPERATION_SCATTER)
		return at_most(1, 1, false);
	if ((o->base != OPERATION_NO_REG && !stride_of(l, o->base, &base)) ||
	    (o->index != OPERATION_NO_REG && !stride_of(l, o->index, &index)))
		return at_most(1, 1, false);
	stride = fabs(base + index * o->scale);
	if (stride == 0 && !is_held)
		return at_most(1, l->has_calls ? 1 : l->entries, true);
	return at_most(stride / LINE_BYTES + l->entries, stride / PAGE_BYTES + l->entries,
		       stride == 0);
}

struct stall_reach stall_loop_reach(const struct stall_loop *l, uint32_t step)
{
	const struct operation *o = &l->c->steps[step].operation;
	double far;
	struct stall_reach r;

	if (is_in_frame(o))
		return at_most(0, 0, true);
	r = reach_in_loop(l, o);
	far = o->has_memory ? distance_before(l, step) : -1;
	if (far >= 0) {
		r.lines = r.far_lines = fmin(r.lines, far / LINE_BYTES);
		r.pages = r.far_pages = fmin(r.pages, far / PAGE_BYTES);
	}
	return r;
}

struct stall_reach stall_loop_code_reach(const struct stall_loop *l)
{
	bool is_known = l->is_loop && !l->has_calls;

	return at_most(is_known && l->n_lines <= HELD_LINES ? l->code_entries : 1,
		       is_known && l->n_pages <= HELD_PAGES ? l->code_entries : 1, false);
}
