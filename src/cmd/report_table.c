/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/report_table.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
#include "base/arena.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text.h"
#include "base/vec.h"

#define GAP	    2
#define LEAST_NAME  12 /* where there is room for it */
#define LEAST_SHORT 6  /* of one that something stands in front of */
#define LEAST_CUT   8  /* rather than a wider table */
#define NAME_BYTES  2048

struct column {
	const char *title;
	unsigned share; /* 0: a number */
	bool is_text;	/* cut at the end, not shortened as a name */
};

struct cell {
	const char *before, *text, *after;
};

struct row {
	struct cell *cells;
	unsigned n;
	bool is_strong;
	const char *note; /* or NULL */
};

struct report_table {
	struct arena texts;
	VEC(struct column) columns; /* as many as there are events, and more */
	unsigned width;
	bool colour;
	VEC(struct row) rows;
};

struct report_table *report_table_new(unsigned width, bool colour)
{
	struct report_table *t = xcalloc(1, sizeof(*t));

	t->width = width;
	t->colour = colour;
	return t;
}

void report_table_free(struct report_table *t)
{
	if (!t)
		return;
	arena_fini(&t->texts);
	vec_fini(&t->columns);
	vec_fini(&t->rows);
	free(t);
}

void report_table_freep(struct report_table **t)
{
	report_table_free(*t);
}

static void add_column(struct report_table *t, const char *title, unsigned share,
		       bool is_text)
{
	assert(!t->rows.n);
	*vec_push(&t->columns) =
		(struct column){ arena_strdup(&t->texts, title), share, is_text };
}

void report_table_number(struct report_table *t, const char *title)
{
	add_column(t, title, 0, false);
}

void report_table_name(struct report_table *t, const char *title, unsigned share)
{
	add_column(t, title, share, false);
}

void report_table_text(struct report_table *t, const char *title, unsigned share)
{
	add_column(t, title, share, true);
}

void report_table_row(struct report_table *t, bool is_strong)
{
	*vec_push(&t->rows) = (struct row){
		.cells = arena_alloc(&t->texts, t->columns.n * sizeof(struct cell)),
		.is_strong = is_strong,
	};
}

void report_table_cell(struct report_table *t, const char *text)
{
	report_table_decorated(t, "", text, "");
}

void report_table_decorated(struct report_table *t, const char *before, const char *name,
			    const char *after)
{
	struct row *r = &t->rows.at[t->rows.n - 1];

	assert(r->n < t->columns.n);
	r->cells[r->n++] = (struct cell){
		.before = arena_strdup(&t->texts, before),
		.text = arena_strdup(&t->texts, name ? name : ""),
		.after = arena_strdup(&t->texts, after),
	};
}

void report_table_note(struct report_table *t, const char *text)
{
	t->rows.at[t->rows.n - 1].note = arena_strdup(&t->texts, text);
}

static size_t cell_width(const struct cell *c)
{
	return text_width(c->before) + text_width(c->text) + text_width(c->after);
}

static size_t title_width(const char *title)
{
	const char *newline = strchr(title, '\n');
	size_t below = text_width(newline ? newline + 1 : title);

	if (!newline)
		return below;

	own(freep) char *above = xstrndup(title, (size_t)(newline - title));

	return text_width(above) > below ? text_width(above) : below;
}

static size_t natural_width(const struct report_table *t, unsigned column)
{
	size_t widest = title_width(t->columns.at[column].title);

	vec_each(r, &t->rows) {
		size_t w = column < r->n ? cell_width(&r->cells[column]) : 0;

		if (w > widest)
			widest = w;
	}
	return widest;
}

size_t report_table_numbers_width(const struct report_table *t)
{
	size_t sum = 0;

	for (unsigned i = 0; i < t->columns.n; i++)
		if (!t->columns.at[i].share)
			sum += natural_width(t, i) + GAP;
	return sum;
}

/* The widest that may give; as many as there are columns: none may. */
static unsigned widest_of(const struct report_table *t, const size_t *widths)
{
	unsigned widest = (unsigned)t->columns.n;

	for (unsigned i = 0; i < t->columns.n; i++)
		if (t->columns.at[i].share && widths[i] > LEAST_CUT &&
		    (widest == t->columns.n || widths[i] > widths[widest]))
			widest = i;
	return widest;
}

/* What narrow columns took beyond their shares, the widest ones give. */
static void fit(const struct report_table *t, size_t room, size_t *widths)
{
	size_t sum = 0;

	for (unsigned i = 0; i < t->columns.n; i++)
		sum += widths[i];
	for (; sum > room; sum--) {
		unsigned widest = widest_of(t, widths);

		if (widest == t->columns.n)
			return;
		widths[widest]--;
	}
}

/* Names take their natural width when all fit; else each gets its share of the room,
 * and what a short one leaves goes to the others. */
static void share_room(const struct report_table *t, size_t room, size_t *widths)
{
	const size_t whole = room;
	unsigned shares = 0;
	own(freep) bool *settled = xcalloc(t->columns.n + 1, sizeof(*settled));
	bool again = true;

	for (unsigned i = 0; i < t->columns.n; i++)
		shares += t->columns.at[i].share;
	while (again && shares) {
		again = false;
		for (unsigned i = 0; i < t->columns.n; i++) {
			unsigned share = t->columns.at[i].share;
			size_t natural = share ? natural_width(t, i) : 0;

			if (!share || settled[i] || natural > room * share / shares)
				continue;
			widths[i] = natural;
			settled[i] = again = true;
			room -= natural;
			shares -= share;
		}
	}
	for (unsigned i = 0; i < t->columns.n; i++) {
		size_t part = shares ? room * t->columns.at[i].share / shares : 0;
		size_t least = part > LEAST_NAME ? part : LEAST_NAME;
		size_t natural;

		if (!t->columns.at[i].share || settled[i])
			continue;
		natural = natural_width(t, i);
		widths[i] = natural < least ? natural : least;
	}
	fit(t, whole, widths);
}

/* The first columns of a text and an ellipsis. */
static void cut_end(char *dst, size_t cap, const char *text, size_t width)
{
	size_t n = 0;

	text_printable(dst, cap, text);
	if (text_width(dst) <= width)
		return;
	for (size_t columns = 0; dst[n] && columns + 1 < width; columns++)
		for (n++; ((unsigned char)dst[n] & 0xc0) == 0x80;)
			n++;
	snprintf(dst + n, cap - n, "…");
}

static void print_cell(struct table *to, const struct column *c, const struct cell *cell,
		       size_t width)
{
	size_t fixed = text_width(cell->before) + text_width(cell->after);
	char name[NAME_BYTES], all[NAME_BYTES];
	const char *text = cell->text;

	if (c->is_text) {
		cut_end(name, sizeof(name) - 4, text, width);
		text = name;
	} else if (width) {
		text = names_shorten(name, sizeof(name), text,
				     width > fixed + LEAST_SHORT ? width - fixed
								 : LEAST_SHORT);
	}
	if (!width || fixed + text_width(text) <= width) {
		table_cellf(to, "%s%s%s", cell->before, text, cell->after);
		return;
	}
	snprintf(all, sizeof(all), "%s%s%s", cell->before, text, cell->after);
	cut_end(name, sizeof(name) - 4, all, width);
	table_cell(to, name);
}

void report_table_print(const struct report_table *t, FILE *out)
{
	own(freep) struct table_column *columns =
		xcalloc(t->columns.n + 1, sizeof(*columns));
	own(freep) size_t *widths = xcalloc(t->columns.n + 1, sizeof(*widths));
	size_t numbers = report_table_numbers_width(t);
	unsigned n_names = 0;

	for (unsigned i = 0; i < t->columns.n; i++) {
		n_names += t->columns.at[i].share != 0;
		columns[i].title = t->columns.at[i].title;
		columns[i].align = t->columns.at[i].share ? TABLE_LEFT : TABLE_RIGHT;
		columns[i].is_elastic = t->columns.at[i].share != 0;
		columns[i].min_width = columns[i].is_elastic ? LEAST_CUT : 0;
	}

	unsigned n_numbers = (unsigned)t->columns.n - n_names;
	size_t gaps = n_names ? (n_names - 1) * GAP : 0;

	share_room(t, t->width > numbers + gaps ? t->width - numbers - gaps : 0, widths);

	own(table_freep) struct table *to = table_new(columns, (unsigned)t->columns.n);

	vec_each(r, &t->rows) {
		table_row(to);
		for (unsigned i = 0; i < r->n; i++)
			print_cell(to, &t->columns.at[i], &r->cells[i], widths[i]);
		if (r->is_strong)
			table_strong(to);
		if (r->note)
			table_note(to, n_numbers ? n_numbers - 1 : 0, r->note);
	}
	table_print(to, &(struct table_style){ .width = t->width, .colour = t->colour },
		    out);
}
