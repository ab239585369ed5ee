/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/archinfo_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/report_head.h"
#include "cmd/report_quality.h"
#include "cmd/report_text.h"

#define MAX_IMAGES 3 /* that are named of those without code */

static void print_table(const struct archinfo_data *d, const struct table *t, FILE *out)
{
	struct table_style style = { .width = d->report.width,
				     .colour = command_terminal()->colour };

	table_print(t, &style, out);
}

/* After an empty line. */
static void print_next(const struct archinfo_data *d, const struct table *t, FILE *out)
{
	fputc('\n', out);
	print_table(d, t, out);
}

static void cell_count(struct table *t, uint64_t n)
{
	char text[TEXT_MAX];

	table_cell(t, text_count(text, n));
}

/* Nothing where there is nothing. */
static void cell_share(struct table *t, uint64_t part, uint64_t whole)
{
	char text[TEXT_MAX];

	table_cell(t, part && whole ? text_pct(text, (double)part, (double)whole) : "");
}

/* Totals. */

static void add_total(struct table *t, const char *name, uint64_t n)
{
	table_row(t);
	table_cell(t, name);
	cell_count(t, n);
}

static void add_mean(struct table *t, const char *name, uint64_t part, uint64_t whole)
{
	table_row(t);
	table_cell(t, name);
	table_cellf(t, "%.2f", archinfo_data_ratio(part, whole));
}

static void print_totals(const struct archinfo_data *d, FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "Totals", .is_elastic = true },
		{ .title = "", .align = TABLE_RIGHT },
	};
	own(table_freep) struct table *t = table_new(columns, 2);
	const struct instruction_mix *m = &d->mix;

	add_total(t, "instructions", m->times);
	add_total(t, "distinct instructions", m->n_distinct);
	if (d->has_flow) {
		add_total(t, "basic blocks entered", d->flow.entered);
		add_total(t, "distinct basic blocks", d->flow.n_blocks);
		add_mean(t, "instructions per basic block", m->times, d->flow.entered);
		add_mean(t, "instructions per taken branch", m->times,
			 block_flow_taken(&d->flow));
	}
	if (m->known.times) {
		add_mean(t, "bytes per instruction", m->bytes, m->known.times);
		add_mean(t, "loads per instruction", m->known.loads, m->known.times);
		add_mean(t, "stores per instruction", m->known.stores, m->known.times);
	}
	print_table(d, t, out);
}

/* Kinds and memory operands. */

static const struct table_column use_columns[2][5] = {
	{ { .title = "Kind", .is_elastic = true },
	  { .title = "Times", .align = TABLE_RIGHT },
	  { .title = "Share", .align = TABLE_RIGHT },
	  { .title = "Loads", .align = TABLE_RIGHT },
	  { .title = "Stores", .align = TABLE_RIGHT } },
	{ { .title = "Memory operand", .is_elastic = true },
	  { .title = "Times", .align = TABLE_RIGHT },
	  { .title = "Share", .align = TABLE_RIGHT },
	  { .title = "Loads", .align = TABLE_RIGHT },
	  { .title = "Stores", .align = TABLE_RIGHT } },
};

struct use_row {
	const char *text;
	struct instruction_mix_uses uses;
};

static int by_times(const void *a, const void *b)
{
	const struct use_row *x = a, *y = b;

	if (x->uses.times != y->uses.times)
		return x->uses.times < y->uses.times ? 1 : -1;
	return strcmp(x->text, y->text);
}

static void add_use(struct table *t, const char *text,
		    const struct instruction_mix_uses *u, uint64_t whole, uint64_t all)
{
	table_row(t);
	table_cell(t, text);
	cell_count(t, u->times);
	cell_share(t, u->times, whole);
	cell_share(t, u->loads, all);
	cell_share(t, u->stores, all);
}

static void add_uses(struct table *t, struct use_row *rows, size_t n, uint64_t whole,
		     uint64_t all)
{
	qsort(rows, n, sizeof(*rows), by_times);
	for (size_t i = 0; i < n && rows[i].uses.times; i++)
		add_use(t, rows[i].text, &rows[i].uses, whole, all);
}

static void print_kinds(const struct archinfo_data *d, FILE *out)
{
	own(table_freep) struct table *t = table_new(use_columns[0], 5);
	const struct instruction_mix *m = &d->mix;
	struct instruction_mix_uses missing = { .times = m->times - m->known.times };
	struct instruction_mix_uses all = m->known;
	struct use_row rows[INSTRUCTION_KIND_N];

	for (unsigned i = 0; i < INSTRUCTION_KIND_N; i++)
		rows[i] = (struct use_row){ instruction_kind_text(i), m->kinds[i] };
	add_uses(t, rows, INSTRUCTION_KIND_N, m->times, m->times);
	if (missing.times)
		add_use(t, "code not at hand", &missing, m->times, m->times);
	table_rule(t);
	all.times = m->times;
	add_use(t, "all", &all, m->times, m->times);
	print_next(d, t, out);
}

static void print_forms(const struct archinfo_data *d, FILE *out)
{
	own(table_freep) struct table *t = table_new(use_columns[1], 5);
	const struct instruction_mix *m = &d->mix;
	struct use_row rows[INSTRUCTION_KIND_N_FORMS];
	uint64_t operands = 0;

	for (unsigned i = 0; i < INSTRUCTION_KIND_N_FORMS; i++) {
		rows[i] = (struct use_row){ instruction_kind_form_text(i), m->forms[i] };
		operands += m->forms[i].times;
	}
	if (!operands)
		return;
	add_uses(t, rows, INSTRUCTION_KIND_N_FORMS, operands, m->times);
	print_next(d, t, out);
}

/* Control flow. */

static void add_flow(struct table *t, const char *text, uint64_t times, uint64_t whole)
{
	if (!times)
		return;
	table_row(t);
	table_cell(t, text);
	cell_count(t, times);
	cell_share(t, times, whole);
	for (int i = 0; i < 3; i++)
		table_cell(t, "");
}

static void add_sites(struct table *t, const char *text, const struct block_flow_sites *s,
		      uint64_t whole)
{
	if (!s->times)
		return;
	table_row(t);
	table_cell(t, text);
	cell_count(t, s->times);
	cell_share(t, s->times, whole);
	cell_count(t, s->n_sites);
	table_cellf(t, "%.2f", archinfo_data_ratio(s->n_targets, s->n_sites));
	cell_share(t, s->most, s->times);
}

static void print_flow(const struct archinfo_data *d, FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "Control flow", .is_elastic = true },
		{ .title = "Times", .align = TABLE_RIGHT },
		{ .title = "Share", .align = TABLE_RIGHT },
		{ .title = "Sites", .align = TABLE_RIGHT },
		{ .title = "Ways", .align = TABLE_RIGHT },
		{ .title = "Usual", .align = TABLE_RIGHT },
	};
	own(table_freep) struct table *t = table_new(columns, 6);
	const struct block_flow *f = &d->flow;
	uint64_t all = d->mix.times;

	add_sites(t, "conditional branches", &f->branches, all);
	add_flow(t, "  taken (of these)", f->taken, f->branches.times);
	add_flow(t, "    forward (of taken)", f->taken_forward, f->taken);
	add_flow(t, "    backward (of taken)", f->taken_backward, f->taken);
	add_flow(t, "jumps", f->jumps, all);
	add_sites(t, "indirect jumps", &f->indirect_jumps, all);
	add_flow(t, "calls", f->calls, all);
	add_sites(t, "indirect calls", &f->indirect_calls, all);
	add_flow(t, "returns", f->returns, all);
	add_flow(t, "system calls", f->system_calls, all);
	print_next(d, t, out);
}

/* Mnemonics. */

static void print_mnemonics(const struct archinfo_data *d, FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "Mnemonic", .is_elastic = true },
		{ .title = "Times", .align = TABLE_RIGHT },
		{ .title = "Share", .align = TABLE_RIGHT },
		{ .title = "Sum", .align = TABLE_RIGHT },
	};
	own(table_freep) struct table *t = table_new(columns, 4);
	size_t n = d->mix.mnemonics.n, shown = archinfo_data_mnemonics(d);
	uint64_t sum = 0;
	char text[64];

	for (size_t i = 0; i < shown; i++) {
		uint64_t times = d->mix.mnemonics.at[i].times;

		table_row(t);
		table_cell(t, archinfo_data_mnemonic(d, i, text, sizeof(text)));
		cell_count(t, times);
		cell_share(t, times, d->mix.times);
		cell_share(t, sum += times, d->mix.times);
	}
	print_next(d, t, out);
	report_text_more(n - shown, out);
}

/* Registers. */

static void cell_use(struct table *t, uint64_t n, uint64_t all, bool has_counts)
{
	char text[TEXT_MAX];

	if (has_counts)
		table_cell(t, n ? text_count(text, n) : "");
	cell_share(t, n, all);
}

/* Where all numbers do not fit, shares tell enough. */
static void print_registers(const struct archinfo_data *d, FILE *out)
{
	static const struct table_column columns[2][7] = {
		{ { .title = "Register" },
		  { .title = "Read", .align = TABLE_RIGHT },
		  { .title = "Written", .align = TABLE_RIGHT },
		  { .title = "In addresses", .align = TABLE_RIGHT } },
		{ { .title = "Register" },
		  { .title = "Read", .align = TABLE_RIGHT },
		  { .title = "", .align = TABLE_RIGHT },
		  { .title = "Written", .align = TABLE_RIGHT },
		  { .title = "", .align = TABLE_RIGHT },
		  { .title = "In addresses", .align = TABLE_RIGHT },
		  { .title = "", .align = TABLE_RIGHT } },
	};
	uint64_t all = d->mix.times;
	char text[TEXT_MAX];
	size_t digits = strlen(text_count(text, all));
	bool has_counts =
		8 + 3 * (2 + (digits < 12 ? 12 : digits) + 2 + 7) <= d->report.width;
	own(table_freep) struct table *t =
		table_new(columns[has_counts], has_counts ? 7 : 4);

	for (unsigned i = 0; i < OPERATION_N_REGS; i++) {
		const struct instruction_mix_register *r = &d->mix.registers[i];

		if (!r->reads && !r->writes && !r->addresses)
			continue;
		table_row(t);
		table_cell(t, archinfo_data_register(d, i, text, sizeof(text)));
		cell_use(t, r->reads, all, has_counts);
		cell_use(t, r->writes, all, has_counts);
		cell_use(t, r->addresses, all, has_counts);
	}
	print_next(d, t, out);
}

/* What is left out. */

static void print_missing(const struct archinfo_data *d, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };
	uint64_t missing = d->mix.times - d->mix.known.times;
	size_t n = d->mix.missing.n;
	char text[TEXT_MAX];

	if (!missing)
		return;
	buf_printf(&b, "what %s of instructions are, whose code is not at hand: ",
		   text_pct(text, (double)missing, (double)d->mix.times));
	for (size_t i = 0; i < n && i < MAX_IMAGES; i++) {
		const struct instruction_mix_image *x = &d->mix.missing.at[i];

		buf_puts(&b, i ? ", " : "");
		report_text_safe(&b, x->path);
		buf_printf(&b, " %s",
			   text_pct(text, (double)x->times, (double)d->mix.times));
	}
	if (n > MAX_IMAGES)
		buf_printf(&b, ", %zu more", n - MAX_IMAGES);
	report_text_labelled(&d->report, "not told", &b, out);
}

static void print_filtered(const struct archinfo_data *d, FILE *out)
{
	own(buf_fini) struct buf b = { 0 };

	if (d->has_flow)
		return;
	buf_puts(&b, "basic blocks and control flow: a filter chooses instructions, and "
		     "no ways between them");
	report_text_labelled(&d->report, "left out", &b, out);
}

static void print_left_out(const struct archinfo_data *d, FILE *out)
{
	if (d->has_flow && d->mix.times == d->mix.known.times)
		return;
	fputc('\n', out);
	print_missing(d, out);
	print_filtered(d, out);
}

void archinfo_text_print(const struct archinfo_data *d, FILE *out)
{
	report_head_print(&d->report, out);
	if (!d->mix.times) {
		report_text_nothing(&d->report, out);
	} else {
		print_totals(d, out);
		print_kinds(d, out);
		print_forms(d, out);
		if (d->has_flow)
			print_flow(d, out);
		if (d->mix.known.times) {
			print_mnemonics(d, out);
			print_registers(d, out);
		}
		print_left_out(d, out);
	}
	report_quality_print(&d->report, out);
}
