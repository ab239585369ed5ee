/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cfg_json.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "cmd/code_json.h"
#include "insn/loop_nest.h"

/* Of source. */
struct place {
	const char *file;
	uint32_t line;
	size_t at;    /* by the instruction that it is of */
	size_t first; /* the same of the first place in the file */
};

struct places {
	VEC(struct place) list;
};

static void places_fini(struct places *p)
{
	vec_fini(&p->list);
}

static int order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_file(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int ret = x->file == y->file ? 0 : strcmp(x->file, y->file);

	return ret ? ret : order(x->at, y->at);
}

static int by_first_and_line(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return x->first != y->first ? order(x->first, y->first) : order(x->line, y->line);
}

static bool is_same(const struct place *x, const struct place *y)
{
	return x->first == y->first && x->line == y->line;
}

/* The file that the block begins in comes first; each line is there once. */
static void sort_places(struct places *p)
{
	size_t n = 0;

	if (!p->list.n)
		return;
	qsort(p->list.at, p->list.n, sizeof(*p->list.at), by_file);
	for (size_t i = 0; i < p->list.n; i++) {
		struct place *x = &p->list.at[i];

		x->first = i && !strcmp(x->file, x[-1].file) ? x[-1].first : x->at;
	}
	qsort(p->list.at, p->list.n, sizeof(*p->list.at), by_first_and_line);
	for (size_t i = 0; i < p->list.n; i++)
		if (!n || !is_same(&p->list.at[i], &p->list.at[n - 1]))
			p->list.at[n++] = p->list.at[i];
	p->list.n = n;
}

static void find_places(const struct calc_view *v, uint32_t block, struct places *ret)
{
	const struct procedure *p = v->code.procedure;
	const struct procedure_block *b = &p->blocks[block];

	for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++) {
		const struct sym_line_row *line = calc_view_line(v, p->steps[i].address);

		if (line && line->file && line->line)
			*vec_push(&ret->list) = (struct place){ .file = line->file,
								.line = line->line,
								.at = i };
	}
	sort_places(ret);
}

static void put_source(const struct calc_view *v, struct json *j, uint32_t block)
{
	own(places_fini) struct places p = { 0 };

	find_places(v, block, &p);
	json_key(j, "source");
	json_array(j);
	for (size_t i = 0; i < p.list.n;) {
		size_t first = p.list.at[i].first;

		json_object(j);
		json_key_str(j, "file", p.list.at[i].file);
		json_key(j, "lines");
		json_array(j);
		for (; i < p.list.n && p.list.at[i].first == first; i++)
			json_u64(j, p.list.at[i].line);
		json_array_end(j);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_instructions(const struct calc_view *v, struct json *j, uint32_t block,
			     unsigned n_lines)
{
	const struct procedure_block *b = &v->code.procedure->blocks[block];
	uint32_t n = n_lines && b->n_steps > n_lines ? n_lines : b->n_steps;

	json_key_u64(j, "n_instructions", b->n_steps);
	json_key(j, "instructions");
	json_array(j);
	for (uint32_t i = b->first_step; i < b->first_step + n; i++) {
		json_object(j);
		code_json_instruction(v, j, i);
		json_object_end(j);
	}
	json_array_end(j);
}

/* Cycles of each time, between which where it is not known how often. */
static void put_each(const struct calc_view *v, struct json *j,
		     const struct function_code_block *b)
{
	code_json_known(j, "cycles_each", calc_view_each(b->cycles, b->times));
	if (b->times < 0 || !v->code.is_estimated)
		return;
	code_json_known(j, "cycles_each_low", calc_view_each(b->cycles, b->times_high));
	code_json_known(j, "cycles_each_high", calc_view_each(b->cycles, b->times_low));
}

static void put_loop(const struct loop_nest_block *l, struct json *j)
{
	json_key_u64(j, "loop_depth", l->depth);
	if (l->loop != LOOP_NEST_NONE)
		json_key_u64(j, "loop", l->loop);
}

static void put_block(const struct calc_view *v, const struct loop_nest *loops,
		      struct json *j, uint32_t block, unsigned n_lines)
{
	const struct procedure_block *p = &v->code.procedure->blocks[block];
	const struct function_code_block *b = &v->code.blocks[block];

	json_object(j);
	json_key_u64(j, "index", block);
	json_key_u64(j, "number", block + 1);
	code_json_block(v, j, block);
	if (v->code.cycles > 0)
		json_key_double(j, "cycles_share", b->cycles / v->code.cycles);
	put_each(v, j, b);
	json_key_bool(j, "is_guessed", p->is_guessed);
	put_loop(&loops->blocks[block], j);
	put_source(v, j, block);
	put_instructions(v, j, block, n_lines);
	json_object_end(j);
}

static const struct code_step *last_step(const struct procedure *p, uint32_t block)
{
	const struct procedure_block *b = &p->blocks[block];

	return &p->steps[b->first_step + b->n_steps - 1];
}

/* Is it where the block's last jump leads, and not what comes behind it?  That comes
 * first of a branch's two. */
static bool is_of_jump(const struct procedure *p, uint32_t way)
{
	const struct procedure_block *b = &p->blocks[p->ways[way].from];
	uint8_t flow = last_step(p, p->ways[way].from)->flow;

	return flow == CODE_STEP_JUMP || flow == CODE_STEP_JUMP_TO ||
	       (flow == CODE_STEP_BRANCH && way == b->first_out);
}

static const char *leaving_text(const struct procedure *p, uint32_t way)
{
	uint8_t end = p->blocks[p->ways[way].from].end_kind;

	if (end == PROCEDURE_END_RETURN)
		return "return";
	if (end == PROCEDURE_END_STOP)
		return "stop";
	return is_of_jump(p, way) ? "tail call" : "end";
}

/* Outside, or nobody knows where. */
static void put_leaving(const struct procedure *p, struct json *j, uint32_t way)
{
	uint32_t from = p->ways[way].from;
	uint64_t target = last_step(p, from)->target;

	if (p->blocks[from].has_unknown_ways_out) {
		json_key_bool(j, "is_unknown", true);
		return;
	}
	json_key_str(j, "leaves_by", leaving_text(p, way));
	if (is_of_jump(p, way) && target)
		json_key_u64(j, "to_address", target);
}

/* How often any of a block's ways was gone. */
static double all_taken(const struct calc_view *v, uint32_t block)
{
	const struct procedure_block *b = &v->code.procedure->blocks[block];
	double all = 0;

	for (uint32_t i = b->first_out; i < b->first_out + b->n_out; i++)
		all += function_code_taken(&v->code, i);
	return all;
}

/* all: how often any of the ways of its block was gone. */
static void put_way(const struct calc_view *v, struct json *j, uint32_t way, double all)
{
	const struct procedure *p = v->code.procedure;
	const struct procedure_way *w = &p->ways[way];

	json_object(j);
	if (w->from != PROCEDURE_OUTSIDE) {
		json_key_u64(j, "from", w->from);
		json_key_u64(j, "from_address", last_step(p, w->from)->address);
	}
	if (w->to != PROCEDURE_OUTSIDE) {
		json_key_u64(j, "to", w->to);
		json_key_u64(j, "to_address", p->blocks[w->to].start);
	} else if (w->from != PROCEDURE_OUTSIDE) {
		put_leaving(p, j, way);
	}
	code_json_way(v, j, way);
	if (w->from != PROCEDURE_OUTSIDE && all > 0)
		json_key_double(j, "share", function_code_taken(&v->code, way) / all);
	json_object_end(j);
}

/* Whoever comes to a block that nothing known leads to. */
static void put_unknown_way_in(const struct procedure *p, struct json *j, uint32_t block)
{
	json_object(j);
	json_key_u64(j, "to", block);
	json_key_u64(j, "to_address", p->blocks[block].start);
	json_key_bool(j, "is_unknown", true);
	json_key_str(j, "kind", "entry");
	json_object_end(j);
}

static bool is_in(const struct cfg_choice *c, uint32_t block)
{
	return block == PROCEDURE_OUTSIDE || c->is_in[block];
}

/* Returns how many are not there, as one of their blocks is not. */
static uint32_t put_ways(const struct calc_view *v, const struct cfg_choice *choice,
			 struct json *j)
{
	const struct procedure *p = v->code.procedure;
	uint32_t n_left_out = 0, from = PROCEDURE_OUTSIDE;
	double all = 0;

	json_key(j, "ways");
	json_array(j);
	for (uint32_t i = 0; i < p->n_ways; i++) {
		if (p->ways[i].from != from && p->ways[i].from != PROCEDURE_OUTSIDE)
			all = all_taken(v, p->ways[i].from);
		from = p->ways[i].from;
		if (is_in(choice, p->ways[i].from) && is_in(choice, p->ways[i].to))
			put_way(v, j, i, all);
		else
			n_left_out++;
	}
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].has_unknown_ways_in && choice->is_in[i])
			put_unknown_way_in(p, j, i);
	json_array_end(j);
	return n_left_out;
}

static void put_loops(const struct procedure *p, const struct loop_nest *loops,
		      struct json *j)
{
	json_key(j, "loops");
	json_array(j);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		const struct loop_nest_block *b = &loops->blocks[i];

		if (!b->is_header)
			continue;
		json_object(j);
		json_key_u64(j, "header", i);
		json_key_u64(j, "depth", b->depth);
		if (b->outer != LOOP_NEST_NONE)
			json_key_u64(j, "outer", b->outer);
		json_key_bool(j, "is_entered_elsewhere", b->is_entered_elsewhere);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_left_out(const struct cfg_choice *choice, uint32_t n_ways, struct json *j)
{
	if (!choice->n_unexecuted && !choice->n_least)
		return;
	json_key(j, "left_out");
	json_object(j);
	json_key_u64(j, "never_executed", choice->n_unexecuted);
	json_key_u64(j, "least_time", choice->n_least);
	json_key_u64(j, "ways", n_ways);
	json_object_end(j);
}

void cfg_json_print(const struct calc_view *v, const struct cfg_choice *choice,
		    unsigned n_lines, struct json *j)
{
	const struct procedure *p = v->code.procedure;
	own(loop_nest_fini) struct loop_nest loops = { 0 };

	loop_nest_make(&loops, p);
	json_object(j);
	code_json_function(v, j);
	if (p->entry != PROCEDURE_OUTSIDE)
		json_key_u64(j, "entry", p->entry);
	json_key(j, "blocks");
	json_array(j);
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (choice->is_in[i])
			put_block(v, &loops, j, i, n_lines);
	json_array_end(j);
	put_loops(p, &loops, j);
	put_left_out(choice, put_ways(v, choice, j), j);
	json_object_end(j);
}
