/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/heap_whole.h"

#include "base/buf.h"
#include "base/table.h"
#include "base/text.h"
#include "cmd/command.h"

#define LINES 24

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

void heap_whole_sizes(const struct heap_view *v, size_t source, FILE *out)
{
	print_sizes(v, &v->rows[source], out);
	fputc('\n', out);
	print_lifetimes(v, &v->rows[source], out);
}

/* The process that held most at some time. */
static uint32_t largest_process(const struct heap_rows *rows, uint64_t *ret_most)
{
	uint32_t process = 0;

	*ret_most = 0;
	vec_each(x, &rows->of[HEAP_ROWS_COURSE]) {
		if (x->values[0] < *ret_most)
			continue;
		*ret_most = x->values[0];
		process = x->process;
	}
	return process;
}

/* A line of the time line. */
struct span {
	uint64_t from_ns, to_ns; /* since the process began */
	uint64_t most, held;
	uint64_t allocations, allocations_before; /* since it began */
};

static void put_span(struct table *t, const struct span *s, uint64_t most, unsigned width)
{
	own(buf_fini) struct buf bar = { 0 };
	char text[TEXT_MAX];

	for (uint64_t i = 0; i < (most ? s->most * width / most : 0); i++)
		buf_puts(&bar, "█");
	table_row(t);
	table_cell(t, text_duration(text, s->from_ns));
	table_cell(t, text_size(text, s->most));
	table_cell(t, text_count(text, s->allocations - s->allocations_before));
	table_cell(t, buf_str(&bar));
}

/* The points of one process, in their order. */
struct course {
	const struct heap_row *at;
	size_t n;
	uint64_t start_ns, end_ns, most;
};

static struct course find_course(const struct heap_view *v, size_t source)
{
	const struct heap_rows *rows = &v->rows[source];
	struct course c = { 0 };
	uint32_t process = largest_process(rows, &c.most);

	vec_each(x, &rows->of[HEAP_ROWS_COURSE]) {
		if (x->process != process)
			continue;
		c.at = c.n ? c.at : x;
		c.n++;
		c.end_ns = x->time_ns;
	}
	c.start_ns =
		recording_process(profile_source(v->report->profile, source), process)
			->start_ns;
	return c;
}

/* Where there is no point nothing changed: what was held before is held on. */
static void advance(struct course *c, struct span *s)
{
	s->most = s->held;
	s->allocations_before = s->allocations;
	for (; c->n && c->at->time_ns - c->start_ns <= s->to_ns; c->at++, c->n--) {
		s->most = c->at->values[0] > s->most ? c->at->values[0] : s->most;
		s->held = c->at->values[1];
		s->allocations = c->at->values[4];
	}
}

void heap_whole_timeline(const struct heap_view *v, size_t source, FILE *out)
{
	static const struct table_column columns[] = {
		{ .title = "From", .align = TABLE_RIGHT },
		{ .title = "Held at most", .align = TABLE_RIGHT },
		{ .title = "Allocations", .align = TABLE_RIGHT },
		{ .title = "" },
	};
	own(table_freep) struct table *t = table_new(columns, 4);
	struct course c = find_course(v, source);
	uint64_t length = c.end_ns > c.start_ns ? c.end_ns - c.start_ns : 0;
	unsigned width = v->report->width > 60 ? v->report->width - 45 : 15;
	struct span s = { 0 };

	for (unsigned i = 0; c.n && i < LINES; i++) {
		s.from_ns = length / LINES * i;
		s.to_ns = i + 1 == LINES ? length : length / LINES * (i + 1);
		advance(&c, &s);
		put_span(t, &s, c.most, width);
	}
	print_table(v, t, out);
}
