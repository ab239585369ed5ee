/* SPDX-License-Identifier: Apache-2.0 */
#include "insn/procedure.h"

#include "base/mem.h"
#include "base/search.h"
#include "insn/code_walk.h"

/* Blocks and ways in the making. */
struct maker {
	struct code_walk *walk;
	struct procedure *procedure;
	VEC(struct procedure_block) blocks;
	VEC(struct procedure_way) ways;
	uint32_t *block_at; /* [offset] + 1, 0 */
	uint32_t *jump_of;  /* [step] of the walk: its indirect jump + 1, 0 */
};

static void maker_finip(struct maker *m)
{
	vec_fini(&m->blocks);
	vec_fini(&m->ways);
	free(m->block_at);
	free(m->jump_of);
}

static int check_ranges(const struct procedure_options *o, struct err *e)
{
	uint64_t end = 0, sum = 0;

	for (size_t i = 0; i < o->n_ranges; i++) {
		const struct procedure_range *r = &o->ranges[i];

		if ((i && r->address < end) || r->size > UINT64_MAX - r->address)
			return err_set(e, ERR_USAGE, "ranges of code overlap");
		end = r->address + r->size;
		sum += r->size;
		if (sum > PROCEDURE_MAX_BYTES || r->size > PROCEDURE_MAX_BYTES)
			return err_set(e, ERR_LIMIT, "a procedure of more than %u MB",
				       PROCEDURE_MAX_BYTES >> 20);
	}
	return 0;
}

/* All blocks, by start, each with its steps in a row. */
static void lay_blocks(struct maker *m)
{
	struct code_walk *w = m->walk;
	struct procedure *p = m->procedure;

	for (uint32_t start = 0; start < w->n_bytes; start++) {
		uint32_t off = start, i = w->step_at[start];
		struct procedure_block *b;

		if (!i || !(w->marks[start] & CODE_WALK_BEGINS))
			continue;
		b = vec_push(&m->blocks);
		m->block_at[start] = (uint32_t)m->blocks.n;
		b->first_step = p->n_steps;
		b->start = w->steps.at[i - 1].address;
		do {
			const struct code_step *s = &w->steps.at[i - 1];

			p->steps[p->n_steps++] = *s;
			off += s->size;
			b->end = s->address + s->size;
			i = code_step_falls(s) && s->flow != CODE_STEP_BRANCH
				    ? w->step_at[off]
				    : 0;
		} while (i && !(w->marks[off] & CODE_WALK_BEGINS));
		b->n_steps = p->n_steps - b->first_step;
		if (b->end - b->start > p->longest_bytes)
			p->longest_bytes = b->end - b->start;
	}
}

static void add_way(struct maker *m, uint32_t from, uint32_t to,
		    enum procedure_way_kind kind)
{
	*vec_push(&m->ways) = (struct procedure_way){ from, to, (uint8_t)kind };
}

/* To the block at an address; false: none is there, but may be where code is. */
static bool go(struct maker *m, uint32_t from, uint64_t address,
	       enum procedure_way_kind kind)
{
	uint32_t off = code_walk_off(m->walk, address);
	uint32_t to = off == CODE_WALK_NONE ? 0 : m->block_at[off];

	add_way(m, from, to ? to - 1 : PROCEDURE_OUTSIDE,
		to ? kind : PROCEDURE_WAY_LEAVE);
	return to;
}

static bool is_inside(const struct maker *m, uint64_t address)
{
	return code_walk_off(m->walk, address) != CODE_WALK_NONE;
}

static void leave_indirectly(struct maker *m, uint32_t from, const struct code_step *s)
{
	uint32_t step = m->walk->step_at[code_walk_off(m->walk, s->address)] - 1;
	const struct code_walk_jump *j = &m->walk->jumps.at[m->jump_of[step] - 1];
	struct procedure_block *b = &m->blocks.at[from];

	b->end_kind = PROCEDURE_END_INDIRECT;
	b->has_unknown_ways_out = !j->is_resolved;
	b->is_guessed = j->is_guessed;
	m->procedure->n_indirect++;
	m->procedure->n_unresolved += !j->is_resolved;
	m->procedure->n_guessed += j->is_guessed;
	if (!j->is_resolved || j->leads_outside)
		add_way(m, from, PROCEDURE_OUTSIDE, PROCEDURE_WAY_LEAVE);
	for (uint32_t i = 0; i < j->n; i++) {
		uint32_t to = m->block_at[m->walk->targets.at[j->first + i]];

		if (to)
			add_way(m, from, to - 1, PROCEDURE_WAY_TABLE);
		else /* no instruction is there */
			b->has_unknown_ways_out = true;
	}
}

static void jump(struct maker *m, uint32_t from, const struct code_step *s)
{
	bool is_taken = go(m, from, s->target, PROCEDURE_WAY_TAKEN);

	if (!is_taken && is_inside(m, s->target))
		m->blocks.at[from].has_unknown_ways_out = true;
	if (s->flow == CODE_STEP_BRANCH)
		m->blocks.at[from].end_kind = PROCEDURE_END_BRANCH;
	else
		m->blocks.at[from].end_kind =
			is_taken ? PROCEDURE_END_JUMP : PROCEDURE_END_TAIL_CALL;
}

static void leave(struct maker *m, uint32_t from)
{
	struct procedure_block *b = &m->blocks.at[from];
	const struct code_step *s = &m->procedure->steps[b->first_step + b->n_steps - 1];

	if (s->flow == CODE_STEP_BRANCH || s->flow == CODE_STEP_JUMP)
		jump(m, from, s);
	else if (s->flow == CODE_STEP_JUMP_TO)
		leave_indirectly(m, from, s);
	else if (!code_step_falls(s)) {
		b->end_kind = s->flow == CODE_STEP_RETURN ? PROCEDURE_END_RETURN
							  : PROCEDURE_END_STOP;
		add_way(m, from, PROCEDURE_OUTSIDE, PROCEDURE_WAY_LEAVE);
	}
	if (!code_step_falls(s) || go(m, from, b->end, PROCEDURE_WAY_ON))
		return;
	if (s->flow != CODE_STEP_BRANCH)
		b->end_kind = PROCEDURE_END_LOST;
	b->has_unknown_ways_out |= is_inside(m, b->end);
}

/* Those from outside come last, as the highest number of a block. */
static void note_ways_out(struct procedure *p)
{
	for (uint32_t i = p->n_ways; i--;)
		if (p->ways[i].from != PROCEDURE_OUTSIDE) {
			p->blocks[p->ways[i].from].first_out = i;
			p->blocks[p->ways[i].from].n_out++;
		}
}

static void note_ways_in(struct procedure *p)
{
	uint32_t at = 0;

	p->ways_in = xcalloc(p->n_ways + 1, sizeof(*p->ways_in));
	for (uint32_t i = 0; i < p->n_ways; i++)
		if (p->ways[i].to != PROCEDURE_OUTSIDE)
			p->blocks[p->ways[i].to].n_in++;
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		p->blocks[i].first_in = at;
		at += p->blocks[i].n_in;
		p->blocks[i].n_in = 0;
	}
	for (uint32_t i = 0; i < p->n_ways; i++)
		if (p->ways[i].to != PROCEDURE_OUTSIDE) {
			struct procedure_block *b = &p->blocks[p->ways[i].to];

			p->ways_in[b->first_in + b->n_in++] = i;
		}
}

static void enter(struct maker *m)
{
	struct code_walk *w = m->walk;
	uint32_t off = code_walk_off(w, w->options->entry);

	for (uint32_t i = 0; i < m->blocks.n; i++) {
		uint32_t at = code_walk_off(w, m->blocks.at[i].start);

		m->blocks.at[i].has_unknown_ways_in = w->marks[at] & CODE_WALK_ROOT;
	}
	m->procedure->entry = PROCEDURE_OUTSIDE;
	if (off == CODE_WALK_NONE || !m->block_at[off])
		return;
	m->procedure->entry = m->block_at[off] - 1;
	m->blocks.at[m->procedure->entry].is_entry = true;
	add_way(m, PROCEDURE_OUTSIDE, m->procedure->entry, PROCEDURE_WAY_ENTRY);
}

static void make(struct code_walk *w, struct procedure *p)
{
	own(maker_finip) struct maker m = { .walk = w, .procedure = p };

	m.block_at = xcalloc((size_t)w->n_bytes + 1, sizeof(*m.block_at));
	m.jump_of = xcalloc(w->steps.n + 1, sizeof(*m.jump_of));
	for (uint32_t i = 0; i < w->jumps.n; i++)
		m.jump_of[w->jumps.at[i].step] = i + 1;
	p->steps = xcalloc(w->steps.n + 1, sizeof(*p->steps));
	lay_blocks(&m);
	for (uint32_t i = 0; i < m.blocks.n; i++)
		leave(&m, i);
	enter(&m);
	p->n_blocks = (uint32_t)m.blocks.n;
	p->n_ways = (uint32_t)m.ways.n;
	p->blocks = steal(&m.blocks.at);
	p->ways = steal(&m.ways.at);
	note_ways_out(p);
	note_ways_in(p);
}

int procedure_new(const struct procedure_options *options, struct procedure **ret,
		  struct err *e)
{
	const struct code_step_machine *machine = code_step_machine_of(options->machine);
	own(code_walk_finip) struct code_walk w = { 0 };
	int rc = check_ranges(options, e);

	if (rc < 0)
		return rc;
	if (!machine)
		return err_set(e, ERR_UNSUPPORTED,
			       "code of ELF machine number %u is not read",
			       options->machine);
	code_walk_init(&w, options, machine);
	code_walk_run(&w);
	*ret = xcalloc(1, sizeof(**ret));
	(*ret)->machine = machine;
	make(&w, *ret);
	return 0;
}

void procedure_free(struct procedure *p)
{
	if (!p)
		return;
	free(p->blocks);
	free(p->steps);
	free(p->ways);
	free(p->ways_in);
	free(p);
}

void procedure_freep(struct procedure **p)
{
	procedure_free(*p);
}

static bool has_step_at(const struct procedure *p, const struct procedure_block *b,
			uint64_t address)
{
	const struct code_step *steps = &p->steps[b->first_step];
	size_t at = search_split(b->n_steps, i, steps[i].address < address);

	return at < b->n_steps && steps[at].address == address;
}

uint32_t procedure_block_at(const struct procedure *p, uint64_t address)
{
	uint32_t low =
		(uint32_t)search_split(p->n_blocks, i, p->blocks[i].start <= address);

	for (; low && address - p->blocks[low - 1].start < p->longest_bytes; low--)
		if (has_step_at(p, &p->blocks[low - 1], address))
			return low - 1;
	return PROCEDURE_OUTSIDE;
}
