/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cfg_graph.h"

#include <inttypes.h>
#include <math.h>

#include "base/mem.h"
#include "base/text.h"
#include "cmd/calc_value.h"
#include "insn/machine_model.h"

#define NO_NODE	    UINT32_MAX
#define TO_BE_DRAWN (UINT32_MAX - 1)

static const enum graph_way_kind kinds[] = {
	[PROCEDURE_WAY_ON] = GRAPH_WAY_ON,	 [PROCEDURE_WAY_TAKEN] = GRAPH_WAY_TAKEN,
	[PROCEDURE_WAY_TABLE] = GRAPH_WAY_TABLE, [PROCEDURE_WAY_LEAVE] = GRAPH_WAY_ON,
	[PROCEDURE_WAY_ENTRY] = GRAPH_WAY_ON,
};

struct drawing {
	const struct calc_view *v;
	const struct function_code *c;
	struct graph *g;
	unsigned n_lines;
	uint32_t *node_of; /* [block], NO_NODE: left out */
	uint32_t entry, exit;
	double most; /* of all ways: how often, or seen */
};

static bool has_counts(const struct function_code *c)
{
	return c->count_column != FUNCTION_CODE_NONE;
}

static bool has_times(const struct function_code *c)
{
	return has_counts(c) || c->is_estimated;
}

static const char *times_text(char *s, double times)
{
	return text_count(s, (uint64_t)llround(times));
}

/* Of a way: exactly, or as samples tell. */
static double frequency_of(const struct function_code *c, uint32_t way)
{
	return has_times(c) ? c->ways[way].times : (double)c->ways[way].told;
}

static void add_left_out(struct drawing *d, const char *which, uint32_t n_blocks)
{
	char foot[120], blocks[TEXT_MAX];

	snprintf(foot, sizeof(foot), "left out, %s%s (--all shows all)", which,
		 text_number(blocks, n_blocks, "blocks"));
	graph_add_foot(d->g, foot);
}

/* How many blocks are not there is said below. */
static void leave_out(struct drawing *d, const struct cfg_choice *choice)
{
	for (uint32_t i = 0; i < d->c->procedure->n_blocks; i++)
		d->node_of[i] = choice->is_in[i] ? TO_BE_DRAWN : NO_NODE;
	if (choice->n_unexecuted)
		add_left_out(d, "as never executed: ", choice->n_unexecuted);
	if (choice->n_least)
		add_left_out(d, "with the least time: ", choice->n_least);
}

static void add_instructions(struct drawing *d, uint32_t block)
{
	const struct procedure_block *b = &d->c->procedure->blocks[block];
	unsigned n = d->n_lines && b->n_steps > d->n_lines ? d->n_lines : b->n_steps;

	for (uint32_t i = b->first_step; i < b->first_step + n; i++) {
		struct disasm_instruction in = calc_view_instruction(d->v, i);
		own(freep) char *line = NULL;
		char number[TEXT_MAX];

		line = xasprintf("%" PRIx64 "  %-7s %s", in.address, in.mnemonic,
				 in.operands);
		graph_add_line(d->g, line,
			       d->c->steps[i].samples
				       ? text_count(number, d->c->steps[i].samples)
				       : NULL);
	}
	if (n < b->n_steps) {
		char more[60];

		snprintf(more, sizeof(more), "⋮ %u more", b->n_steps - n);
		graph_add_line(d->g, more, NULL);
	}
}

/* "95–440 M", of a way "about 210,000,000" has too many digits. */
static const char *often_text(const struct function_code *c, uint32_t way, char *s)
{
	const struct function_code_way *w = &c->ways[way];

	if (!c->is_estimated)
		return times_text(s, frequency_of(c, way));
	return calc_value_times_range(s, w->times_low, w->times_high);
}

/* "105,018,711 times, 7.4 cycles each, 0.5 at best" */
static void add_note(struct drawing *d, uint32_t block)
{
	const struct function_code_block *b = &d->c->blocks[block];
	char note[160], times[TEXT_MAX], each[TEXT_MAX];
	size_t n = 0;

	if (b->times < 0)
		return;
	if (b->times == 1)
		n = (size_t)snprintf(note, sizeof(note), "once");
	else
		n = (size_t)snprintf(
			note, sizeof(note), "%s times",
			calc_value_times_range(times, b->times_low, b->times_high));
	if (b->samples && b->times > 0)
		n += (size_t)snprintf(
			note + n, sizeof(note) - n, ", %s cycles each",
			calc_value_each(each, b->cycles, b->times_low, b->times_high));
	if (b->ideal >= 0)
		snprintf(note + n, sizeof(note) - n, ", %.1f at best", b->ideal);
	graph_set_note(d->g, note);
}

static void add_block(struct drawing *d, uint32_t block)
{
	const struct function_code_block *b = &d->c->blocks[block];
	char title[100], share[TEXT_MAX];
	double weight = d->c->cycles > 0 ? b->cycles / d->c->cycles : 0;

	if (b->samples)
		snprintf(title, sizeof(title), "block %u, %s", block + 1,
			 text_pct(share, b->cycles, d->c->cycles));
	else
		snprintf(title, sizeof(title), "block %u", block + 1);
	d->node_of[block] = graph_add_node(d->g, GRAPH_NODE_BLOCK, title);
	add_instructions(d, block);
	add_note(d, block);
	graph_set_weight(d->g, weight, b->times >= 0 ? b->times : (double)b->samples);
}

static bool is_drawn(const struct drawing *d, uint32_t block)
{
	return block != PROCEDURE_OUTSIDE && d->node_of[block] != NO_NODE;
}

/* Does any way, known or not, lead from outside to a block that is drawn? */
static bool is_entered(const struct drawing *d)
{
	const struct procedure *p = d->c->procedure;

	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].has_unknown_ways_in && is_drawn(d, i))
			return true;
	return is_drawn(d, p->entry);
}

static bool is_left(const struct drawing *d)
{
	const struct procedure *p = d->c->procedure;

	for (uint32_t i = 0; i < p->n_ways; i++)
		if (p->ways[i].to == PROCEDURE_OUTSIDE && is_drawn(d, p->ways[i].from))
			return true;
	return false;
}

/* Where nothing drawn leads to or from outside, that is no node, either. */
static void add_blocks(struct drawing *d)
{
	d->entry = NO_NODE;
	if (is_entered(d))
		d->entry = graph_add_node(d->g, GRAPH_NODE_ENTRY, "entry");
	for (uint32_t i = 0; i < d->c->procedure->n_blocks; i++)
		if (d->node_of[i] == TO_BE_DRAWN)
			add_block(d, i);
	d->exit = NO_NODE;
	if (is_left(d))
		d->exit = graph_add_node(d->g, GRAPH_NODE_EXIT, "exit");
}

static void add_way(struct drawing *d, uint32_t way)
{
	const struct procedure_way *w = &d->c->procedure->ways[way];
	uint32_t from = w->from == PROCEDURE_OUTSIDE ? d->entry : d->node_of[w->from];
	uint32_t to = w->to == PROCEDURE_OUTSIDE ? d->exit : d->node_of[w->to];
	double often = frequency_of(d->c, way);
	bool is_lost = w->kind == PROCEDURE_WAY_LEAVE && w->from != PROCEDURE_OUTSIDE &&
		       d->c->procedure->blocks[w->from].has_unknown_ways_out;
	char label[TEXT_MAX];

	if (from == NO_NODE || to == NO_NODE)
		return;
	graph_add_way(d->g, from, to, is_lost ? GRAPH_WAY_UNKNOWN : kinds[w->kind],
		      often > 0 ? often_text(d->c, way, label) : NULL,
		      d->most > 0 && often > 0 ? often / d->most : 0);
}

/* Whoever comes by a way that nobody knows. */
static void add_unknown_ways_in(struct drawing *d)
{
	const struct procedure *p = d->c->procedure;

	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (p->blocks[i].has_unknown_ways_in && d->node_of[i] != NO_NODE)
			graph_add_way(d->g, d->entry, d->node_of[i], GRAPH_WAY_UNKNOWN,
				      NULL, 0);
}

static void add_titles(struct drawing *d)
{
	const struct profile_function *f =
		profile_function(d->v->r->profile, d->v->function);
	own(freep) char *title = xasprintf("%s in %s", f->name, f->image);
	char more[200] = "", number[TEXT_MAX], windows[80];
	size_t n = 0;

	snprintf(windows, sizeof(windows), " by %s of exact counts",
		 text_number(number, d->c->n_windows, "windows"));

	if (d->c->samples)
		n = (size_t)snprintf(more, sizeof(more), "%s of time",
				     text_number(number, d->c->samples, "samples"));
	if (has_counts(d->c))
		n += (size_t)snprintf(more + n, sizeof(more) - n, "%s%s", n ? "; " : "",
				      "every execution counted");
	if (d->c->is_estimated)
		n += (size_t)snprintf(more + n, sizeof(more) - n,
				      "; how often is estimated%s, confidence %s",
				      d->c->n_windows ? windows : "",
				      frequency_confidence_text(d->c->confidence));
	if (d->c->model)
		snprintf(more + n, sizeof(more) - n, "; at best: %s%s", d->c->model->name,
			 d->c->is_nearest_model ? ", the nearest model" : "");
	graph_set_titles(d->g, title, more);
}

struct graph *cfg_graph_make(const struct calc_view *v, const struct cfg_choice *choice,
			     unsigned n_lines)
{
	const struct procedure *p = v->code.procedure;
	own(freep) uint32_t *node_of = xcalloc(p->n_blocks + 1, sizeof(*node_of));
	struct drawing d = { .v = v,
			     .c = &v->code,
			     .g = graph_new(),
			     .n_lines = n_lines,
			     .node_of = node_of };

	for (uint32_t i = 0; i < p->n_ways; i++)
		d.most = fmax(d.most, frequency_of(d.c, i));
	add_titles(&d);
	leave_out(&d, choice);
	add_blocks(&d);
	for (uint32_t i = 0; i < p->n_ways; i++)
		add_way(&d, i);
	add_unknown_ways_in(&d);
	return d.g;
}
