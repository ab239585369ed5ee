/* SPDX-License-Identifier: Apache-2.0 */
#include "sym/line_table.h"

#include <dwarf.h>
#include <string.h>

#include "base/reader.h"
#include "base/search.h"

/* Rows of the sequence that is being run; done() looks at it when it ends. */
struct run {
	const struct line_files *f;
	struct reader r;
	struct line_row row;
	uint32_t op_index;
	VEC(struct line_row) rows;
	void (*done)(struct run *run, uint64_t end);
	/* of the question */
	const uint64_t *addresses;
	size_t n;
	struct line_row *ret;
	uint64_t start, end;
	line_table_fn *fn;
	void *ctx;
};

static void reset(struct run *run)
{
	run->row = (struct line_row){ .file = 1, .line = 1 };
	run->op_index = 0;
	vec_clear(&run->rows);
}

/* Rows that run backwards are damage; without them the rest is usable. */
static void append(struct run *run)
{
	if (!run->rows.n || run->row.address >= run->rows.at[run->rows.n - 1].address)
		*vec_push(&run->rows) = run->row;
}

static void advance(struct run *run, uint64_t operations)
{
	const struct line_files *f = run->f;

	if (f->max_ops <= 1) {
		run->row.address += operations * f->min_length;
		return;
	}
	operations += run->op_index;
	run->row.address += operations / f->max_ops * f->min_length;
	run->op_index = (uint32_t)(operations % f->max_ops);
}

static void end_sequence(struct run *run)
{
	uint64_t code_start = run->f->unit->file->code_start;

	if (run->rows.n && run->rows.at[0].address >= code_start &&
	    run->row.address > run->rows.at[0].address)
		run->done(run, run->row.address);
	reset(run);
}

static void extended(struct run *run)
{
	uint64_t size = reader_uleb(&run->r);
	const uint8_t *body = reader_bytes(&run->r, size);
	struct reader r = reader_over(body, body ? size : 0);

	switch (reader_u8(&r)) {
	case DW_LNE_end_sequence:
		end_sequence(run);
		break;
	case DW_LNE_set_address:
		run->row.address =
			reader_left(&r) >= 8 ? reader_u64le(&r) : reader_u32le(&r);
		run->op_index = 0;
		break;
	}
}

static void standard(struct run *run, uint8_t op)
{
	struct reader *r = &run->r;

	switch (op) {
	case 0:
		extended(run);
		return;
	case DW_LNS_copy:
		append(run);
		return;
	case DW_LNS_advance_pc:
		advance(run, reader_uleb(r));
		return;
	case DW_LNS_advance_line:
		run->row.line += (uint32_t)reader_sleb(r);
		return;
	case DW_LNS_set_file:
		run->row.file = (uint32_t)reader_uleb(r);
		return;
	case DW_LNS_set_column:
		run->row.column = (uint32_t)reader_uleb(r);
		return;
	case DW_LNS_const_add_pc:
		advance(run, (255u - run->f->opcode_base) / run->f->line_range);
		return;
	case DW_LNS_fixed_advance_pc:
		run->row.address += reader_u16le(r);
		run->op_index = 0;
		return;
	}
	for (int i = 0; i < run->f->operand_counts[op]; i++)
		reader_uleb(r);
}

static void run_program(struct run *run)
{
	const struct line_files *f = run->f;

	run->r = reader_over(f->program, (size_t)(f->program_end - f->program));
	reset(run);
	while (reader_left(&run->r)) {
		uint8_t op = reader_u8(&run->r);

		if (op < f->opcode_base) {
			standard(run, op);
			continue;
		}
		op -= f->opcode_base;
		advance(run, op / f->line_range);
		run->row.line += (uint32_t)(f->line_base + op % f->line_range);
		append(run);
	}
	vec_fini(&run->rows);
}

/* Both the rows and the addresses ascend: one pass over both. */
static void answer_lookups(struct run *run, uint64_t end)
{
	size_t k = 0;
	size_t i = search_split(run->n, j, run->addresses[j] < run->rows.at[0].address);

	for (; i < run->n && run->addresses[i] < end; i++) {
		while (k + 1 < run->rows.n &&
		       run->rows.at[k + 1].address <= run->addresses[i])
			k++;
		if (!run->ret[i].address)
			run->ret[i] = run->rows.at[k];
	}
}

void line_table_lookup(const struct line_files *f, const uint64_t *addresses, size_t n,
		       struct line_row *ret)
{
	struct run run = {
		.f = f, .done = answer_lookups, .addresses = addresses, .n = n, .ret = ret
	};

	memset(ret, 0, n * sizeof(*ret));
	run_program(&run);
}

static void answer_each(struct run *run, uint64_t end)
{
	if (run->rows.at[0].address >= run->end || end <= run->start)
		return;
	for (size_t i = 0; i < run->rows.n; i++) {
		uint64_t to = i + 1 < run->rows.n ? run->rows.at[i + 1].address : end;

		if (run->rows.at[i].address < run->end && to > run->start &&
		    to > run->rows.at[i].address)
			run->fn(run->ctx, &run->rows.at[i], to);
	}
}

void line_table_each(const struct line_files *f, uint64_t start, uint64_t end,
		     line_table_fn *fn, void *ctx)
{
	struct run run = { .f = f,
			   .done = answer_each,
			   .start = start,
			   .end = end,
			   .fn = fn,
			   .ctx = ctx };

	run_program(&run);
}
