/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/heap_whole.h"

#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"

static void print_table(const struct heap_view *v, const struct table *t, FILE *out)
{
	table_print(t,
		    &(struct table_style){ .width = v->report->width,
					   .colour = command_terminal()->colour },
		    out);
}

static void print_sizes(const struct heap_view *v, const struct heap_rows *rows,
			FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "Size below", .align = TABLE_RIGHT },
		{ .title = "Allocations", .align = TABLE_RIGHT },
		{ .title = "Bytes", .align = TABLE_RIGHT },
		{ .title = "Left", .align = TABLE_RIGHT },
		{ .title = "Bytes left", .align = TABLE_RIGHT },
	};
	own(table_freep) struct table *t = table_new(columns, 5);
	char s[TEXT_MAX];

	vec_each(x, &rows->of[HEAP_ROWS_SIZES]) {
		table_row(t);
		table_cell(t, text_size(s, x->values[0]));
		table_cell(t, text_count(s, x->values[1]));
		table_cell(t, text_size(s, x->values[2]));
		table_cell(t, x->values[3] ? text_count(s, x->values[3]) : "–");
		table_cell(t, x->values[3] ? text_size(s, x->values[4]) : "–");
	}
	print_table(v, t, out);
}

static void print_lifetimes(const struct heap_view *v, const struct heap_rows *rows,
			    FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "Lived less than", .align = TABLE_RIGHT },
		{ .title = "Blocks", .align = TABLE_RIGHT },
		{ .title = "Bytes", .align = TABLE_RIGHT },
	};
	own(table_freep) struct table *t = table_new(columns, 3);
	char s[TEXT_MAX];

	vec_each(x, &rows->of[HEAP_ROWS_LIFETIMES]) {
		table_row(t);
		table_cell(t, text_duration(s, x->values[0]));
		table_cell(t, text_count(s, x->values[1]));
		table_cell(t, text_size(s, x->values[2]));
	}
	print_table(v, t, out);
}

int heap_whole_sizes(const struct heap_view *v, size_t source, FILE *out, struct err *e)
{
	(void)e;
	fputs("\n\n", out);
	print_sizes(v, &v->rows[source], out);
	fputc('\n', out);
	print_lifetimes(v, &v->rows[source], out);
	return 0;
}
