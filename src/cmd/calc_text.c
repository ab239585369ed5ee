/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/calc_access.h"
#include "cmd/calc_stall.h"
#include "cmd/calc_value.h"
#include "cmd/calc_view.h"
#include "cmd/command.h"
#include "cmd/how_often.h"
#include "cmd/report_head.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"
#include "insn/machine_model.h"

#define LAST_COLUMN    5      /* the instruction's */
#define WIDE	       100    /* columns from which lines are named beside the code */
#define LEAST_SHARE    0.005  /* of the function's time: blocks with less are left out */
#define LEAST_BLOCKS   6      /* are shown */
#define LEAST_WAIT     0.5    /* cycles */
#define LEAST_STATIC   1.0    /* cycles at best: from these on it is told why */
#define KNOWN_PCT      75     /* a share of a branch in a wider range is not known */
#define LEAST_ACCESSES 16     /* samples that tell where memory is accessed */
#define BELOW	       "    " /* what a line below an instruction goes on behind */

static void put_head(const struct calc_view *v, FILE *out)
{
	const struct function_code *c = &v->code;
	char text[TEXT_MAX], more[TEXT_MAX];
	own(buf_fini) struct buf b = { 0 };

	report_head_function(v->r, v->function, out);
	if (c->time_column == FUNCTION_CODE_NONE)
		return;
	buf_printf(&b, "%s of %s here, %s cycles",
		   text_number(text, c->samples, "samples"),
		   profile_column(v->r->profile, c->time_column)->name,
		   calc_value_times(more, c->cycles));
	if (c->clock_ghz > 0)
		buf_printf(&b, " at %.2f GHz", c->clock_ghz);
	buf_printf(&b, ", %s of all", text_pct(text, c->cycles, c->all_cycles));
	if (c->n_runs > 1 && !c->is_estimated)
		buf_printf(&b, ", the mean of %u runs", c->n_runs);
	report_text_wrapped(v->r, &b, out);
}

/* "12 samples of dtlb-misses here, 120,120 of them, 3.0 % of all". */
static void put_misses(const struct calc_view *v, FILE *out)
{
	const struct function_code *c = &v->code;
	own(buf_fini) struct buf b = { 0 };
	char n[TEXT_MAX], times[TEXT_MAX], share[TEXT_MAX];

	for (unsigned i = 0; i < c->misses.n; i++) {
		const struct miss_samples_event *e = &c->misses.events[i];

		buf_printf(&b, "%s of %s here, each of %s, %s of all",
			   text_number(n, (uint64_t)llround(e->here), "samples"),
			   e->column, calc_value_times(times, e->each),
			   text_pct(share, e->here, e->all));
		report_text_wrapped(v->r, &b, out);
	}
}

static void put_unknown(const struct function_code *c, FILE *out)
{
	if (c->count_column == FUNCTION_CODE_NONE)
		fprintf(out, "  How often it was executed is not known: %s\n",
			c->has_no_counts ? "the counts have nothing of it"
					 : "give a recording of bbcounts, too");
	fputc('\n', out);
}

/* What an instruction takes, of all of them together. */
static void put_rates(const struct calc_view *v, const struct calc_view_totals *t,
		      FILE *out)
{
	const struct function_code *c = &v->code;
	own(buf_fini) struct buf b = { 0 };
	char actual[TEXT_MAX];

	if (c->model)
		buf_printf(&b, "Best case %.2f cycles an instruction (%s%s)",
			   t->ideal / t->instructions, c->model->name,
			   c->is_nearest_model ? ", the nearest model" : "");
	if (c->model && c->samples && c->is_estimated)
		buf_printf(&b, ", actual %s",
			   calc_value_cycles_range(actual, c->cycles / t->high,
						   c->cycles / t->low));
	else if (c->model && c->samples)
		buf_printf(&b, ", actual %.2f", c->cycles / t->instructions);
	if (b.size)
		report_text_wrapped(v->r, &b, out);
	fputc('\n', out);
}

/* "12,345 instructions, every one counted; entered once", or as samples tell. */
static void put_sums(const struct calc_view *v, FILE *out)
{
	const struct function_code *c = &v->code;
	char text[TEXT_MAX];
	struct calc_view_totals t;
	struct how_often how;
	own(buf_fini) struct buf b = { 0 };

	if (!calc_view_totals(v, &t)) {
		put_unknown(c, out);
		return;
	}
	how = (struct how_often){ .low = t.low,
				  .high = t.high,
				  .is_estimated = c->is_estimated,
				  .n_windows = c->n_windows,
				  .retired_samples =
					  c->retired_high > 0 ? c->retired_samples : 0,
				  .least = c->confidence,
				  .most = c->confidence };
	how_often_put(&how, &b);
	if (!c->is_estimated && c->times == 1)
		buf_puts(&b, "; entered once");
	else if (!c->is_estimated)
		buf_printf(&b, "; entered %s times", calc_value_times(text, c->times));
	report_text_wrapped(v->r, &b, out);
	buf_clear(&b);
	if (c->is_estimated && c->confidence == FREQUENCY_LOW) {
		how_often_put_who_tells(v->r, &b);
		report_text_wrapped(v->r, &b, out);
	}
	how_often_put_refusal(&how, v->r, out);
	put_rates(v, &t, out);
}

static struct table *new_table(void)
{
	static const struct table_column columns[] = {
		{ "Samples", TABLE_RIGHT, false, 0 },
		{ "Times", TABLE_RIGHT, false, 0 },
		{ "Cycles\neach", TABLE_RIGHT, false, 0 },
		{ "At\nbest", TABLE_RIGHT, false, 0 },
		{ "Address", TABLE_RIGHT, false, 0 },
		{ "Instruction", TABLE_LEFT, true, 10 },
	};

	return table_new(columns, sizeof(columns) / sizeof(columns[0]));
}

/* A row without numbers, up to its text. */
static void put_empty(struct table *t)
{
	table_row(t);
	for (int i = 0; i < LAST_COLUMN; i++)
		table_cell(t, "");
}

/* Of what a block's executions took together. */
static const char *put_each(char *s, double cycles, const struct function_code_block *b)
{
	return calc_value_each(s, cycles, b->times_low, b->times_high);
}

/* How far from the best it is, and where the branch at its end goes. */
static void put_block_head(const struct calc_view *v, struct table *t, uint32_t block)
{
	const struct function_code *c = &v->code;
	const struct function_code_block *b = &c->blocks[block];
	char text[TEXT_MAX];

	table_row(t);
	table_strong(t);
	table_cell(t, text_count(text, b->samples));
	table_cell(t, calc_value_times_range(text, b->times_low, b->times_high));
	table_cell(t, c->samples ? put_each(text, b->cycles, b) : "");
	table_cell(t, calc_value_cycles(text, b->ideal));
	table_cell(t, "");
	table_cellf(t, "block %u, %s of the time", block + 1,
		    text_pct(text, b->cycles, c->cycles));
}

static void put_arrival(const struct calc_view *v, struct table *t, uint32_t block)
{
	const struct function_code_block *b = &v->code.blocks[block];
	double each = calc_view_each(b->arrival, b->times);
	char text[TEXT_MAX];

	calc_stall_put(&v->stalls.of_arrival[block], v->code.procedure, PROCEDURE_OUTSIDE,
		       t, LAST_COLUMN);
	if (each < LEAST_WAIT)
		return;
	table_row(t);
	table_cell(t, "");
	table_cell(t, "");
	table_cell(t, put_each(text, b->arrival, b));
	table_cell(t, "");
	table_cell(t, "");
	table_cell(t, "  ↳ on the way here");
}

/* Of one branch: how often, as far as that is known, and as samples tell. */
struct branch_sums {
	double taken, all;
	double taken_low, taken_high, on_low, on_high;
	uint64_t taken_told, told, missed, known;
	bool is_in_windows;
};

static struct branch_sums sum_ways(const struct function_code *c,
				   const struct procedure_block *b)
{
	struct branch_sums s = { 0 };

	for (uint32_t i = b->first_out; i < b->first_out + b->n_out; i++) {
		const struct function_code_way *w = &c->ways[i];
		bool is_on = c->procedure->ways[i].kind == PROCEDURE_WAY_ON;

		s.taken += is_on ? 0 : w->times;
		s.all += w->times;
		*(is_on ? &s.on_low : &s.taken_low) += w->times_low;
		*(is_on ? &s.on_high : &s.taken_high) += w->times_high;
		s.taken_told += is_on ? 0 : w->told;
		s.told += w->told;
		s.missed += w->missed;
		s.known += w->missed + w->foreseen;
		s.is_in_windows |= w->is_in_windows;
	}
	return s;
}

/* Of what no sample saw: as far as both ways are bounded. */
static void put_unseen(struct table *t, const struct branch_sums *s)
{
	double low =
		s->taken_low > 0 ? 100 * s->taken_low / (s->taken_low + s->on_high) : 0;
	double high =
		s->taken_high > 0 ? 100 * s->taken_high / (s->taken_high + s->on_low) : 0;

	if (high - low > KNOWN_PCT)
		table_cell(t, "  ↳ not seen which way it goes");
	else if (llround(low) == llround(high))
		table_cellf(t, "  ↳ taken ~%.0f %%, not seen", low);
	else
		table_cellf(t, "  ↳ taken %.0f–%.0f %%, not seen", low, high);
}

static void put_branch(const struct calc_view *v, struct table *t, uint32_t block)
{
	const struct function_code *c = &v->code;
	const struct procedure_block *b = &c->procedure->blocks[block];
	struct branch_sums s = sum_ways(c, b);
	char count[TEXT_MAX], share[TEXT_MAX];

	if (b->end_kind != PROCEDURE_END_BRANCH || (s.all <= 0 && !s.told))
		return;
	put_empty(t);
	if (s.all > 0 && (!c->is_estimated || s.is_in_windows))
		table_cellf(t, "  ↳ taken %.1f %%", 100 * s.taken / s.all);
	else if (!s.told)
		put_unseen(t, &s);
	else
		table_cellf(t, "  ↳ taken %.0f %% of %s %sseen",
			    100 * (double)s.taken_told / (double)s.told,
			    text_count(count, s.told), c->is_estimated ? "" : "times ");
	table_continue(t, BELOW);
	if (!s.known)
		return;
	put_empty(t);
	table_cellf(t, "    if so, %s unforeseen",
		    text_pct(share, (double)s.missed, (double)s.known));
	table_continue(t, BELOW);
}

/* Enough to tell what it does in general. */
static bool is_telling(const struct access_place *a)
{
	return a && a->samples >= LEAST_ACCESSES;
}

/* " on 400078": who waits for the machine waits for no other instruction. */
static void put_waits_for(const struct calc_view *v, uint32_t step, unsigned wait,
			  struct buf *to)
{
	uint32_t of = v->code.steps[step].waits_for;

	if (of == PATH_COST_NONE || wait == SCHEDULE_WAIT_PORT ||
	    wait == SCHEDULE_WAIT_FRONT_END)
		return;
	if (of == step)
		buf_puts(to, " on itself");
	else
		buf_printf(to, " on %" PRIx64, v->code.procedure->steps[of].address);
}

static bool is_told(double wait)
{
	return wait >= LEAST_WAIT;
}

/* "best: dependency on 400078", and how many cycles where there are several. */
static void put_waits(const struct calc_view *v, struct table *t, uint32_t step)
{
	const struct function_code_step *s = &v->code.steps[step];
	unsigned n = 0, longest = 0;

	for (unsigned w = 0; w < SCHEDULE_N_WAITS; w++) {
		n += is_told(s->waits[w]);
		longest = s->waits[w] > s->waits[longest] ? w : longest;
	}
	for (unsigned w = 0; w < SCHEDULE_N_WAITS && s->ideal >= LEAST_STATIC; w++) {
		own(buf_fini) struct buf b = { 0 };

		if (!is_told(s->waits[w]))
			continue;
		buf_printf(&b, "  ↳ best: %s", schedule_wait_text(w));
		if (w == longest)
			put_waits_for(v, step, w, &b);
		if (n > 1)
			buf_printf(&b, ", %.1f", s->waits[w]);
		put_empty(t);
		table_cell(t, buf_str(&b));
		table_continue(t, BELOW);
	}
}

static void put_access(const struct calc_view *v, struct table *t, uint32_t step)
{
	static void (*const tell[])(const struct access_place *,
				    struct buf *) = { calc_access_places,
						      calc_access_share };
	const struct access_place *a = access_places_of(&v->code.accesses, step);

	for (unsigned i = 0; is_telling(a) && i < 2; i++) {
		own(buf_fini) struct buf b = { 0 };

		tell[i](a, &b);
		if (!b.size)
			continue;
		put_empty(t);
		table_cellf(t, "  %s %s", i ? " " : "↳", buf_str(&b));
		table_continue(t, BELOW);
	}
}

static void put_instruction(const struct calc_view *v, struct table *t, uint32_t block,
			    uint32_t step)
{
	const struct function_code *c = &v->code;
	const struct function_code_block *b = &c->blocks[block];
	const struct function_code_step *s = &c->steps[step];
	uint64_t address = c->procedure->steps[step].address;
	const struct sym_line_row *line = calc_view_line(v, address);
	double each = calc_view_each(s->cycles, s->times);
	struct disasm_instruction in = calc_view_instruction(v, step);
	char number[TEXT_MAX], where[120] = "";

	if (line && line->file && v->r->width >= WIDE)
		snprintf(where, sizeof(where), "  ; %s:%u", names_base(line->file),
			 line->line);
	table_row(t);
	table_cell(t, s->samples ? text_count(number, s->samples) : "");
	table_cell(t, "");
	table_cell(t, each >= LEAST_WAIT / 10 ? put_each(number, s->cycles, b) : "");
	table_cell(t, s->ideal >= 0.05 ? calc_value_cycles(number, s->ideal) : "");
	table_cellf(t, "%" PRIx64, address);
	table_cellf(t, "  %-7s %s%s", in.mnemonic, in.operands, where);
	put_access(v, t, step);
	put_waits(v, t, step);
}

static void put_block(const struct calc_view *v, struct table *t, uint32_t block)
{
	const struct procedure_block *b = &v->code.procedure->blocks[block];

	put_block_head(v, t, block);
	put_arrival(v, t, block);
	for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++) {
		calc_stall_put(&v->stalls.of_step[k], v->code.procedure, k, t,
			       LAST_COLUMN);
		put_instruction(v, t, block, k);
	}
	put_branch(v, t, block);
}

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Blocks with so many cycles are shown: also where none has much, some are. */
static double least_cycles(const struct function_code *c)
{
	uint32_t n = c->procedure->n_blocks;
	own(freep) double *cycles = xcalloc(n + 1, sizeof(*cycles));
	double least = LEAST_SHARE * c->cycles;

	for (uint32_t i = 0; i < n; i++)
		cycles[i] = c->blocks[i].cycles;
	qsort(cycles, n, sizeof(*cycles), descending);
	if (n > LEAST_BLOCKS && cycles[LEAST_BLOCKS - 1] > 0)
		least = fmin(least, cycles[LEAST_BLOCKS - 1]);
	return least;
}

static bool is_whole(const struct calc_view *v, uint32_t block, double least)
{
	const struct function_code *c = &v->code;

	if (v->all)
		return true;
	return c->samples ? c->blocks[block].cycles >= least
			  : c->blocks[block].times != 0;
}

/* What is listed: blocks with all that is known of them, and of the others instructions
 * that are named as what these may wait for. */
struct listed {
	const struct calc_view *v;
	bool *blocks, *named; /* by block; by step */
};

static void listed_fini(struct listed *l)
{
	free(l->blocks);
	free(l->named);
}

static void take_named(void *ctx, uint32_t step)
{
	struct listed *l = ctx;

	l->named[step] = true;
}

static void take_named_in(struct listed *l, uint32_t block)
{
	const struct procedure *p = l->v->code.procedure;
	const struct procedure_block *b = &p->blocks[block];
	const struct stalls *s = &l->v->stalls;

	calc_stall_each_named(&s->of_arrival[block], p, PROCEDURE_OUTSIDE, take_named, l);
	for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++)
		calc_stall_each_named(&s->of_step[k], p, k, take_named, l);
}

static void listed_init(struct listed *l, const struct calc_view *v)
{
	const struct procedure *p = v->code.procedure;
	double least = least_cycles(&v->code);

	*l = (struct listed){ .v = v,
			      .blocks = xcalloc(p->n_blocks + 1, sizeof(*l->blocks)),
			      .named = xcalloc(p->n_steps + 1, sizeof(*l->named)) };
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		l->blocks[i] = is_whole(v, i, least);
		if (l->blocks[i])
			take_named_in(l, i);
	}
}

/* Of a block that is left out. */
static bool names_any(const struct listed *l, uint32_t block)
{
	const struct procedure_block *b = &l->v->code.procedure->blocks[block];

	for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++)
		if (l->named[k])
			return true;
	return false;
}

static void put_named(const struct listed *l, struct table *t, uint32_t block)
{
	const struct procedure_block *b = &l->v->code.procedure->blocks[block];
	bool is_gap = false;

	put_block_head(l->v, t, block);
	for (uint32_t k = b->first_step; k < b->first_step + b->n_steps; k++) {
		if (!is_gap && !l->named[k]) {
			put_empty(t);
			table_cell(t, "  ⋮");
		}
		is_gap = !l->named[k];
		if (!is_gap)
			put_instruction(l->v, t, block, k);
	}
}

static void put_gap(const struct calc_view *v, struct table *t, uint32_t n, double cycles)
{
	char count[TEXT_MAX], share[TEXT_MAX];

	if (!n)
		return;
	put_empty(t);
	table_cellf(t, "⋮ %s with %s", text_number(count, n, "more blocks"),
		    text_pct(share, cycles, v->code.cycles));
}

static void put_blocks(const struct calc_view *v, FILE *out)
{
	const struct function_code *c = &v->code;
	own(table_freep) struct table *t = new_table();
	struct table_style style = { .width = v->r->width,
				     .colour = command_terminal()->colour };
	own(listed_fini) struct listed listed;
	uint32_t hidden = 0;
	double hidden_cycles = 0;
	own(buf_fini) struct buf note = { 0 };

	listed_init(&listed, v);
	for (uint32_t i = 0; i < c->procedure->n_blocks; i++) {
		if (!listed.blocks[i] && !names_any(&listed, i)) {
			hidden++;
			hidden_cycles += c->blocks[i].cycles;
			continue;
		}
		put_gap(v, t, hidden, hidden_cycles);
		hidden = 0;
		hidden_cycles = 0;
		if (listed.blocks[i])
			put_block(v, t, i);
		else
			put_named(&listed, t, i);
	}
	put_gap(v, t, hidden, hidden_cycles);
	table_print(t, &style, out);
	if (!c->samples)
		return;
	buf_puts(&note, "Samples are where they landed; cycles are of the instruction "
			"before, which was the oldest then");
	report_text_wrapped(v->r, &note, out);
}

static void put_next(const struct calc_view *v, FILE *out)
{
	static const char *const next[] = { "cfg ", "stalls ", "callers " };

	/* Stalls are of time. */
	if (v->code.samples)
		report_text_next_of(v->r, v->function, next, 3, out);
	else
		report_text_next_of(v->r, v->function, next, 1, out);
}

void calc_text_print(const struct calc_view *v, FILE *out)
{
	report_head_print(v->r, out);
	put_head(v, out);
	put_misses(v, out);
	put_sums(v, out);
	put_blocks(v, out);
	report_quality_print(v->r, out);
	put_next(v, out);
}
