/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/fpe_view.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/grouping.h"
#include "analyze/names.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/report_json.h"

/* Of the experiment: all exceptions, then their types. */
#define EVENTS 8

struct fpe_row {
	struct dimension_label label;
	const char *name; /* the label's */
	uint64_t values[EVENTS];
	unsigned event; /* that it is of, or 0 */
};

struct fpe_rows {
	VEC(struct fpe_row) rows;
	struct fpe_row total;
};

struct fpe_rows *fpe_view_new(void)
{
	return xcalloc(1, sizeof(struct fpe_rows));
}

void fpe_view_freep(struct fpe_rows **f)
{
	vec_each(row, &(*f)->rows)
		grouping_label_fini(&row->label);
	vec_fini(&(*f)->rows);
	free(*f);
}

/* Types are no dimension of samples: each is an event. */
enum { BY_FUNCTION, BY_LINE, BY_INSTRUCTION, BY_STACK, BY_TYPE, BY_THREAD, BY_PROCESS };

static const struct rows_by bys[] = {
	[BY_FUNCTION] = { "function", "Function", 0 },
	[BY_LINE] = { "line", "Line", 0 },
	[BY_INSTRUCTION] = { "instruction", "Address", 0 },
	[BY_STACK] = { "stack", "Stack", 0 },
	[BY_TYPE] = { "type", "Type", 0 },
	[BY_THREAD] = { "thread", "Thread", 0 },
	[BY_PROCESS] = { "process", "Process", 0 },
	{ NULL, NULL, 0 },
};

static const struct rows_key keys[EVENTS + 1] = {
	{ "exceptions", offsetof(struct fpe_row, values[0]), NULL },
	{ "invalid", offsetof(struct fpe_row, values[1]), NULL },
	{ "denormal", offsetof(struct fpe_row, values[2]), NULL },
	{ "divide-by-zero", offsetof(struct fpe_row, values[3]), NULL },
	{ "overflow", offsetof(struct fpe_row, values[4]), NULL },
	{ "underflow", offsetof(struct fpe_row, values[5]), NULL },
	{ "inexact", offsetof(struct fpe_row, values[6]), NULL },
	{ "integer-divide", offsetof(struct fpe_row, values[7]), NULL },
	{ NULL, 0, NULL },
};

static const char *const texts[EVENTS] = {
	"",
	"no result: 0/0, sqrt(-1), too large for an integer",
	"an operand below the normal range",
	"an infinite result of finite operands",
	"a result that is too large",
	"a result that is too small to be exact",
	"a result that is rounded",
	"integers divided by 0, or too large",
};

static const char *name_of(unused const struct rows_view *v, const void *row)
{
	return ((const struct fpe_row *)row)->name;
}

static void put_name(const struct rows_view *v, const void *row, struct rows_word *ret)
{
	buf_puts(&ret->text, name_of(v, row));
}

static void put_text(unused const struct rows_view *v, const void *row,
		     struct rows_word *ret)
{
	buf_puts(&ret->text, texts[((const struct fpe_row *)row)->event]);
}

static void put_function(const struct rows_view *v, const void *row,
			 struct rows_word *ret)
{
	uint32_t function = ((const struct fpe_row *)row)->label.function;

	if (function != MODEL_NONE)
		buf_puts(&ret->text,
			 profile_function(v->report.profile, function)->label);
}

static void put_image(const struct rows_view *v, const void *row, struct rows_word *ret)
{
	uint32_t function = ((const struct fpe_row *)row)->label.function;

	if (function != MODEL_NONE)
		buf_puts(&ret->text,
			 profile_function(v->report.profile, function)->image);
}

static void put_line(unused const struct rows_view *v, const void *row,
		     struct rows_word *ret)
{
	const struct dimension_label *label = &((const struct fpe_row *)row)->label;

	if (label->file && label->line)
		buf_printf(&ret->text, "%s:%u", names_base(label->file), label->line);
}

static void put_place(const struct rows_view *v, const void *row, struct json *j)
{
	const struct dimension_label *label = &((const struct fpe_row *)row)->label;

	if (label->function != MODEL_NONE) {
		json_key(j, "function");
		json_object(j);
		report_json_function(j, &v->report, label->function);
		json_object_end(j);
	}
	if (label->file)
		json_key_str(j, "file", label->file);
	if (label->line)
		json_key_u64(j, "line", label->line);
	if (label->address)
		json_key_u64(j, "address", label->address);
}

/* Where something is in it, in any row. */
static bool has_column(const struct rows_view *v, const struct rows_column *c)
{
	const struct fpe_rows *rows = v->of;

	return v->by != BY_TYPE && rows_view_number(v, c, &rows->total);
}

static bool is_by_type(const struct rows_view *v, unused const struct rows_column *c)
{
	return v->by == BY_TYPE;
}

static bool is_by_function(const struct rows_view *v, unused const struct rows_column *c)
{
	return v->by == BY_FUNCTION;
}

static bool is_of_code(const struct rows_view *v, unused const struct rows_column *c)
{
	return v->by == BY_LINE || v->by == BY_INSTRUCTION;
}

static bool is_by_instruction(const struct rows_view *v,
			      unused const struct rows_column *c)
{
	return v->by == BY_INSTRUCTION;
}

static const struct rows_column columns[] = {
	{ .json = put_place },
	{ .title = "Exceptions",
	  .key = "exceptions",
	  .at = offsetof(struct fpe_row, values[0]) },
	{ .title = "Invalid",
	  .key = "invalid",
	  .at = offsetof(struct fpe_row, values[1]),
	  .is_shown = has_column },
	{ .title = "Denormal",
	  .key = "denormal",
	  .at = offsetof(struct fpe_row, values[2]),
	  .is_shown = has_column },
	{ .title = "Divide\nby 0",
	  .key = "divide-by-zero",
	  .at = offsetof(struct fpe_row, values[3]),
	  .is_shown = has_column },
	{ .title = "Overflow",
	  .key = "overflow",
	  .at = offsetof(struct fpe_row, values[4]),
	  .is_shown = has_column },
	{ .title = "Underflow",
	  .key = "underflow",
	  .at = offsetof(struct fpe_row, values[5]),
	  .is_shown = has_column },
	{ .title = "Inexact",
	  .key = "inexact",
	  .at = offsetof(struct fpe_row, values[6]),
	  .is_shown = has_column },
	{ .title = "Integer\ndivide",
	  .key = "integer-divide",
	  .at = offsetof(struct fpe_row, values[7]),
	  .is_shown = has_column },
	{ .title = "Function",
	  .key = "name",
	  .share = 3,
	  .is_name = true,
	  .word = put_name },
	{ .title = "",
	  .share = 3,
	  .is_text = true,
	  .word = put_text,
	  .is_shown = is_by_type },
	{ .title = "Image", .share = 1, .word = put_image, .is_shown = is_by_function },
	{ .title = "Function", .share = 2, .word = put_function, .is_shown = is_of_code },
	{ .title = "Line", .share = 1, .word = put_line, .is_shown = is_by_instruction },
	{ .title = NULL },
};

/* EVENTS: none of ours. */
static unsigned event_of(const struct profile_column *c)
{
	unsigned i = 0;

	if (strcmp(c->experiment, "fpe") != 0)
		return EVENTS;
	while (i < EVENTS && strcmp(c->name, keys[i].word) != 0)
		i++;
	return i;
}

static bool sum_totals(struct fpe_rows *rows, const struct profile *p)
{
	bool is_found = false;

	for (size_t i = 0; i < profile_n_columns(p); i++) {
		unsigned event = event_of(profile_column(p, i));

		if (event == EVENTS)
			continue;
		is_found = true;
		rows->total.values[event] += profile_column(p, i)->total_weight;
	}
	return is_found;
}

static void add_type(struct fpe_rows *rows, unsigned event)
{
	uint64_t n = rows->total.values[event];
	struct fpe_row *row;

	if (!n)
		return;
	row = vec_push(&rows->rows);
	*row = (struct fpe_row){ .label.function = MODEL_NONE, .event = event };
	buf_puts(&row->label.name, keys[event].word);
	row->name = buf_str(&row->label.name);
	row->values[0] = row->values[event] = n;
}

static void add_row(struct fpe_rows *rows, const struct profile *p,
		    const struct grouping *g, size_t i)
{
	const struct metrics *m = grouping_metrics(g);
	struct fpe_row row = { .label.function = MODEL_NONE };
	uint64_t any = 0;

	for (size_t k = 0; k < m->n_columns; k++) {
		unsigned event = event_of(profile_column(p, k));
		uint64_t value = m->exclusive[i * m->n_columns + k];

		if (event == EVENTS)
			continue;
		row.values[event] += value;
		any |= value;
	}
	if (!any)
		return;
	grouping_label(g, i, &row.label);
	row.name = buf_str(&row.label.name);
	*vec_push(&rows->rows) = row;
}

static int group(struct fpe_rows *rows, const struct rows_view *v, struct err *e)
{
	const struct dimension *d = dimension_find(bys[v->by].word);
	own(grouping_freep) struct grouping *g = NULL;
	const struct profile *p = v->report.profile;
	int rc = profile_n_sources(p) > 1 ? grouping_make_shared(p, d, &g, e)
					  : grouping_make(p, d, &g, e);

	for (size_t i = 0; rc == 0 && i < grouping_n_rows(g); i++)
		add_row(rows, p, g, i);
	return rc;
}

static int load(struct rows_view *v, struct err *e)
{
	struct fpe_rows *rows = v->of;
	int rc = 0;

	if (!sum_totals(rows, v->report.profile))
		return rows_view_missing(v, e);
	if (v->by != BY_TYPE)
		rc = group(rows, v, e);
	for (unsigned i = 1; v->by == BY_TYPE && i < EVENTS; i++)
		add_type(rows, i);
	rows_view_take(v, rows->rows.at, rows->rows.n, sizeof(*rows->rows.at));
	if (rows->rows.n)
		rows_view_part(v, NULL, &rows->total, rows->rows.n);
	return rc;
}

const struct rows_kind fpe_view = {
	.name = "fpe",
	.subject = "exceptions",
	.bys = bys,
	.keys = keys,
	.columns = columns,
	.nothing = "No exception was raised.",
	.has_total = true,
	.load = load,
	.row_name = name_of,
};
