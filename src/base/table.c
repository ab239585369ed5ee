/* SPDX-License-Identifier: Apache-2.0 */
#include "base/table.h"

#include <assert.h>
#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"
#include "base/vec.h"

#define GAP	    2  /* columns between columns */
#define ELASTIC_MIN 16 /* an elastic column is never narrower, unless it says so */
#define LEAST_ROOM  8  /* where there is less in a line, nothing goes on in another one */
#define TITLE_LINES 2

#define BOLD  "\033[1m"
#define DIM   "\033[2m"
#define PLAIN "\033[0m"

struct row {
	const char **cells; /* as many as there are columns; NULL: empty */
	unsigned n;	    /* how many were given */
	bool is_rule, is_strong;
	const char *note; /* or NULL */
	unsigned note_column;
	const char *lead; /* of the lines that its last cell goes on in, or NULL */
};

struct table {
	struct arena texts;
	struct table_column *columns;
	unsigned n_columns;
	VEC(struct row) rows;
};

struct table *table_new(const struct table_column *columns, unsigned n)
{
	struct table *t = xcalloc(1, sizeof(*t));

	t->columns = xmemdup(columns, n * sizeof(*columns));
	t->n_columns = n;
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	arena_fini(&t->texts);
	vec_fini(&t->rows);
	free(t->columns);
	free(t);
}

void table_freep(struct table **t)
{
	table_free(*t);
}

void table_row(struct table *t)
{
	struct row *r = vec_push(&t->rows);

	r->cells = arena_alloc(&t->texts, t->n_columns * sizeof(*r->cells));
}

static struct row *last_row(struct table *t)
{
	assert(t->rows.n && !t->rows.at[t->rows.n - 1].is_rule);
	return &t->rows.at[t->rows.n - 1];
}

void table_cell(struct table *t, const char *text)
{
	struct row *r = last_row(t);
	size_t cap = strlen(text) * 4 + 1; /* every byte may become \xNN */
	own(freep) char *safe = xcalloc(1, cap);

	assert(r->n < t->n_columns);
	r->cells[r->n++] = arena_strdup(&t->texts, text_printable(safe, cap, text));
}

void table_cellf(struct table *t, const char *fmt, ...)
{
	own(freep) char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = xstrdup("");
	va_end(ap);
	table_cell(t, text);
}

void table_strong(struct table *t)
{
	last_row(t)->is_strong = true;
}

void table_continue(struct table *t, const char *lead)
{
	last_row(t)->lead = lead;
}

void table_note(struct table *t, unsigned column, const char *text)
{
	struct row *r = last_row(t);
	size_t cap = strlen(text) * 4 + 1;
	own(freep) char *safe = xcalloc(1, cap);

	r->note = arena_strdup(&t->texts, text_printable(safe, cap, text));
	r->note_column = column;
}

void table_rule(struct table *t)
{
	vec_push(&t->rows)->is_rule = true;
}

/* Line i (from the bottom, so that short titles sit on the rule) of a title. */
static const char *title_line(const char *title, unsigned from_bottom, int *len)
{
	const char *newline = title ? strchr(title, '\n') : NULL;

	if (!title || (from_bottom && !newline)) {
		*len = 0;
		return "";
	}
	if (from_bottom) {
		*len = (int)(newline - title);
		return title;
	}
	title = newline ? newline + 1 : title;
	*len = (int)strlen(title);
	return title;
}

static size_t title_width(const char *title)
{
	size_t widest = 0;

	for (unsigned line = 0; line < TITLE_LINES; line++) {
		int len;
		const char *s = title_line(title, line, &len);
		own(freep) char *text = xstrndup(s, (size_t)len);

		if (text_width(text) > widest)
			widest = text_width(text);
	}
	return widest;
}

static size_t natural_width(const struct table *t, unsigned column, bool no_header)
{
	const struct table_column *c = &t->columns[column];
	size_t width = no_header ? 0 : title_width(c->title);

	if (!c->is_elastic && width < c->min_width)
		width = c->min_width;
	vec_each(r, &t->rows) {
		size_t w = !r->is_rule && r->cells[column] ? text_width(r->cells[column])
							   : 0;

		if (w > width)
			width = w;
	}
	return width;
}

static size_t least_width(const struct table_column *c)
{
	return c->min_width ? c->min_width : ELASTIC_MIN;
}

/* The widest elastic column that may be narrower; n_columns: there is none. */
static unsigned widest_elastic(const struct table *t, const size_t *widths)
{
	unsigned widest = t->n_columns;

	for (unsigned i = 0; i < t->n_columns; i++)
		if (t->columns[i].is_elastic && widths[i] > least_width(&t->columns[i]) &&
		    (widest == t->n_columns || widths[i] > widths[widest]))
			widest = i;
	return widest;
}

/* Every column's width; elastic ones give way when the terminal is too narrow. */
static size_t layout(const struct table *t, const struct table_style *style,
		     size_t *widths)
{
	size_t total = t->n_columns ? (t->n_columns - 1) * (size_t)GAP : 0;

	for (unsigned i = 0; i < t->n_columns; i++)
		total += widths[i] = natural_width(t, i, style->no_header);
	if (!style->width || total <= style->width)
		return total;
	for (; total > style->width; total--) {
		unsigned widest = widest_elastic(t, widths);

		if (widest == t->n_columns)
			break;
		widths[widest]--;
	}
	return total;
}

static void pad(FILE *out, size_t n)
{
	fprintf(out, "%*s", (int)n, "");
}

/* The byte at which the first `columns` columns of s end. */
static size_t cut_at(const char *s, size_t columns)
{
	size_t n = strlen(s), at = 0;
	char one[5] = "";

	while (at < n) {
		size_t len = utf8_length(s + at, n - at);

		len = len ? len : 1;
		memcpy(one, s + at, len);
		one[len] = '\0';

		size_t w = text_width(one);

		if (w > columns)
			break;
		columns -= w;
		at += len;
	}
	return at;
}

/* Head and tail of s around an ellipsis, as wide as `width` or one less. */
static size_t print_cut(FILE *out, const char *s, size_t width)
{
	size_t keep = width - 1, head = cut_at(s, (keep + 1) / 2), total = text_width(s);
	size_t skip = cut_at(s, total - keep / 2);
	own(freep) char *front = xstrndup(s, head);

	/* A wide character on the border may have pushed the tail's start back. */
	if (text_width(s + skip) > keep / 2)
		skip += utf8_length(s + skip, strlen(s + skip));
	fprintf(out, "%s…%s", front, s + skip);
	return text_width(front) + 1 + text_width(s + skip);
}

static void print_cell(FILE *out, const struct table_column *c, const char *s,
		       size_t width, bool is_last)
{
	size_t w = text_width(s);
	size_t before = c->align == TABLE_RIGHT && w < width ? width - w : 0;

	pad(out, before);
	if (w > width)
		w = print_cut(out, s, width);
	else
		fputs(s, out);
	if (!is_last)
		pad(out, width > before + w ? width - before - w : 0);
}

/* The number of columns up to the last one that has something to show. */
static unsigned last_shown(unsigned n, const char *const *cells)
{
	while (n && (!cells[n - 1] || !*cells[n - 1]))
		n--;
	return n;
}

static void print_cells(const struct table *t, const size_t *widths,
			const char *const *cells, FILE *out)
{
	unsigned n = last_shown(t->n_columns, cells);

	for (unsigned i = 0; i < n; i++) {
		if (i)
			pad(out, GAP);
		print_cell(out, &t->columns[i], cells[i] ? cells[i] : "", widths[i],
			   i + 1 == n);
	}
}

static void print_rule(size_t total, const struct table_style *style, FILE *out)
{
	fputs(style->colour ? DIM : "", out);
	for (size_t i = 0; i < total; i++)
		fputs("─", out);
	fputs(style->colour ? PLAIN "\n" : "\n", out);
}

static void print_line(const struct table *t, const size_t *widths,
		       const char *const *cells, bool is_strong, FILE *out)
{
	if (is_strong)
		fputs(BOLD, out);
	print_cells(t, widths, cells, out);
	fputs(is_strong ? PLAIN "\n" : "\n", out);
}

static void print_header(const struct table *t, const size_t *widths, size_t total,
			 const struct table_style *style, FILE *out)
{
	own(freep) char **titles = xcalloc(t->n_columns, sizeof(*titles));

	for (unsigned line = TITLE_LINES; line--;) {
		bool has_text = false;

		for (unsigned i = 0; i < t->n_columns; i++) {
			int len;
			const char *s = title_line(t->columns[i].title, line, &len);

			titles[i] = xstrndup(s, (size_t)len);
			has_text |= len > 0;
		}
		if (has_text)
			print_line(t, widths, (const char *const *)titles, style->colour,
				   out);
		for (unsigned i = 0; i < t->n_columns; i++)
			free(titles[i]);
	}
	print_rule(total, style, out);
}

/* Words in lines that begin alike. */
struct lines {
	FILE *out;
	size_t indent, room; /* columns before each, and for its words */
	const char *lead;    /* behind the indent of each but the first */
	size_t at;	     /* columns of words in this one */
};

static void print_word(struct lines *l, const char *s, size_t n)
{
	own(freep) char *word = xstrndup(s, n);
	size_t width = text_width(word);

	if (l->at && l->at + 1 + width > l->room) {
		fputc('\n', l->out);
		pad(l->out, l->indent);
		fputs(l->lead, l->out);
		l->at = 0;
	}
	if (l->at)
		fputc(' ', l->out);
	l->at += l->at ? 1 : 0;
	if (width > l->room)
		width = print_cut(l->out, word, l->room);
	else
		fputs(word, l->out);
	l->at += width;
}

/* A sign stays with its number: "≤ 0.4". */
static size_t word_size(const char *s)
{
	static const char *const signs[] = { "≤ ", "≥ " };

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		size_t n = strlen(signs[i]);

		if (strncmp(s, signs[i], n) == 0)
			return n + strcspn(s + n, " ");
	}
	return strcspn(s, " ");
}

static void print_words(struct lines *l, const char *s)
{
	while (*s) {
		size_t n = word_size(s);

		print_word(l, s, n);
		s += n + (s[n] == ' ');
	}
	fputc('\n', l->out);
}

static size_t width_before(const size_t *widths, unsigned column)
{
	size_t sum = 0;

	for (unsigned i = 0; i < column; i++)
		sum += widths[i] + GAP;
	return sum;
}

/* A long one has half of the width: behind many columns it begins below an earlier one.
 */
static size_t note_indent(const struct row *r, const size_t *widths,
			  const struct table_style *style)
{
	size_t width = text_width(r->note), half = style->width / 2;
	size_t room = width < half ? width : half;
	unsigned column = r->note_column;

	while (style->width && column &&
	       width_before(widths, column) + room > style->width)
		column--;
	return width_before(widths, column);
}

static void print_note(const struct row *r, const size_t *widths,
		       const struct table_style *style, FILE *out)
{
	size_t indent = note_indent(r, widths, style);
	struct lines l = { .out = out, .indent = indent, .lead = "" };

	l.room = !style->width			       ? SIZE_MAX / 2
		 : style->width > indent + ELASTIC_MIN ? style->width - indent
						       : ELASTIC_MIN;
	pad(out, indent);
	print_words(&l, r->note);
}

/* The last cell, which does not fit into its column. */
static void print_continued(const struct table *t, const struct row *r,
			    const size_t *widths, FILE *out)
{
	unsigned last = last_shown(t->n_columns, r->cells) - 1;
	const char *s = r->cells[last];
	size_t lead = text_width(r->lead), head = cut_at(s, lead);
	struct lines l = { .out = out,
			   .indent = width_before(widths, last),
			   .room = widths[last] - lead,
			   .lead = r->lead };

	for (unsigned i = 0; i < last; i++) {
		print_cell(out, &t->columns[i], r->cells[i], widths[i], false);
		pad(out, GAP);
	}
	fwrite(s, 1, head, out);
	print_words(&l, s + head);
}

/* Is it too long, and is there room to go on below? */
static bool is_continued(const struct table *t, const struct row *r, const size_t *widths)
{
	unsigned n = last_shown(t->n_columns, r->cells);

	return r->lead && n && text_width(r->cells[n - 1]) > widths[n - 1] &&
	       widths[n - 1] >= text_width(r->lead) + LEAST_ROOM;
}

void table_print(const struct table *t, const struct table_style *style, FILE *out)
{
	own(freep) size_t *widths = xcalloc(t->n_columns, sizeof(*widths));
	size_t total = layout(t, style, widths);

	if (style->width && total > style->width)
		total = style->width;
	if (!style->no_header)
		print_header(t, widths, total, style, out);
	vec_each(r, &t->rows) {
		if (r->is_rule)
			print_rule(total, style, out);
		else if (is_continued(t, r, widths))
			print_continued(t, r, widths, out);
		else
			print_line(t, widths, r->cells, style->colour && r->is_strong,
				   out);
		if (r->note)
			print_note(r, widths, style, out);
	}
}
