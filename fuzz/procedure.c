/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a procedure of each machine, in one range or two, its tables in the same
 * bytes: blocks are in order, each step is in one of them, ways lead from the last step
 * of a block to the first of another, and both lists of them say the same. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "insn/flow_class.h"
#include "insn/loop_nest.h"
#include "insn/procedure.h"

#define CODE 0x10000

#define check(what)                                                                      \
	do {                                                                             \
		if (!(what))                                                             \
			abort();                                                         \
	} while (0)

struct input {
	const uint8_t *data;
	size_t size;
};

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct input *in = ctx;

	check(bytes <= 8);
	if (address < CODE || address - CODE > in->size ||
	    bytes > in->size - (address - CODE))
		return false;
	memcpy(to, in->data + (address - CODE), bytes);
	return true;
}

static void check_blocks(const struct procedure *p, const struct input *in)
{
	uint32_t n_steps = 0;

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];
		uint64_t at = b->start;

		check(!i || p->blocks[i - 1].start < b->start);
		check(b->n_steps && b->first_step == n_steps);
		check(b->start >= CODE && b->end <= CODE + in->size + 8);
		for (uint32_t k = 0; k < b->n_steps; k++) {
			const struct code_step *s = &p->steps[b->first_step + k];

			check(s->address == at && s->size);
			check(k + 1 == b->n_steps ||
			      (code_step_falls(s) && s->flow != CODE_STEP_BRANCH));
			at += s->size;
		}
		check(at == b->end && procedure_block_at(p, b->start) <= i);
		check(b->is_entry == (p->entry == i));
		n_steps += b->n_steps;
	}
	check(n_steps == p->n_steps);
}

static void check_ways(const struct procedure *p)
{
	uint32_t n_out = 0, n_in = 0;

	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct procedure_block *b = &p->blocks[i];

		check(b->n_out && b->first_out == n_out && b->first_in == n_in);
		check(b->n_in || b->has_unknown_ways_in);
		for (uint32_t k = 0; k < b->n_out; k++)
			check(p->ways[b->first_out + k].from == i);
		for (uint32_t k = 0; k < b->n_in; k++)
			check(p->ways[p->ways_in[b->first_in + k]].to == i);
		n_out += b->n_out;
		n_in += b->n_in;
	}
	check(n_out + (p->entry != PROCEDURE_OUTSIDE) == p->n_ways);
	for (uint32_t i = 0; i < p->n_ways; i++) {
		const struct procedure_way *w = &p->ways[i];

		check(w->to < p->n_blocks || w->to == PROCEDURE_OUTSIDE);
		n_in -= w->to != PROCEDURE_OUTSIDE;
		if (w->kind == PROCEDURE_WAY_ON)
			check(p->blocks[w->to].start == p->blocks[w->from].end);
		check((w->kind == PROCEDURE_WAY_LEAVE) == (w->to == PROCEDURE_OUTSIDE));
	}
	check(!n_in);
}

static void check_classes(const struct procedure *p)
{
	struct flow_class_way *ways = xcalloc(p->n_ways + 1, sizeof(*ways));
	struct flow_class c;

	for (uint32_t i = 0; i < p->n_ways; i++)
		ways[i] = (struct flow_class_way){ p->ways[i].from, p->ways[i].to };
	flow_class_make(&c, p->n_blocks, NULL, ways, p->n_ways);
	check(c.n_classes <= p->n_blocks + p->n_ways + 1);
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].n_out == 1)
			check(c.of_block[i] == c.of_way[p->blocks[i].first_out] ||
			      !p->blocks[i].n_in ||
			      ways[p->blocks[i].first_out].to != FLOW_CLASS_OUTSIDE);
	flow_class_fini(&c);
	free(ways);
}

/* Headers are in their own loops, and each loop is one deeper than the one around it. */
static void check_loops(const struct procedure *p)
{
	struct loop_nest n;

	loop_nest_make(&n, p);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct loop_nest_block *b = &n.blocks[i];

		check((b->loop == LOOP_NEST_NONE) == !b->depth);
		check(!b->depth || (n.blocks[b->loop].is_header &&
				    n.blocks[b->loop].depth == b->depth));
		check(b->is_header == (b->loop == i));
		check(b->outer == LOOP_NEST_NONE ||
		      n.blocks[b->outer].depth + 1 == b->depth);
	}
	loop_nest_fini(&n);
}

static void run(unsigned machine, const struct input *in, size_t cut)
{
	struct procedure_range ranges[] = {
		{ CODE, in->data, cut }, { CODE + cut, in->data + cut, in->size - cut }
	};
	struct procedure_options o = { .machine = machine,
				       .ranges = ranges,
				       .n_ranges = 2,
				       .entry = CODE,
				       .read = read_memory,
				       .ctx = (void *)in };
	own(procedure_freep) struct procedure *p = NULL;

	if (cut & 4) /* not next to each other */
		ranges[1].address += 8;
	check(procedure_new(&o, &p, NULL) == 0);
	check_blocks(p, in);
	check_ways(p);
	check_classes(p);
	check_loops(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data + 1, size - 1 };
	size_t cut;

	if (!size || size > 4096)
		return 0;
	cut = data[0] < in.size ? data[0] : in.size;
	run(EM_X86_64, &in, cut);
	run(EM_AARCH64, &in, cut);
	return 0;
}
