/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/annotate_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "cmd/report_json.h"

#define CONTEXT	  3   /* lines shown around one that has weight */
#define MAX_ABOVE 200 /* lines from the declaration to the first with weight */
#define TAB	  4

void annotate_source_fini(struct annotate_source *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->lines[i]);
	free(s->lines);
	buf_fini(&s->text);
	*s = (struct annotate_source){ 0 };
}

static char *expand_tabs(const char *line, size_t n)
{
	own(buf_fini) struct buf b = { 0 };

	for (size_t i = 0; i < n; i++) {
		if (line[i] == '\r')
			continue;
		if (line[i] != '\t') {
			buf_u8(&b, (uint8_t)line[i]);
			continue;
		}
		do
			buf_u8(&b, ' ');
		while (b.size % TAB);
	}
	return xstrdup(buf_str(&b));
}

static void cut_lines(struct annotate_source *s)
{
	const char *at = buf_str(&s->text), *end = at + s->text.size;
	VEC(char *) lines = { 0 };

	while (at < end) {
		size_t n = strcspn(at, "\n");

		*vec_push(&lines) = expand_tabs(at, n);
		at += n + 1;
	}
	s->lines = lines.at;
	s->n = lines.n;
}

bool annotate_source_load(struct annotate_source *s, const struct annotate_view *v,
			  const char *file, struct err *why)
{
	const struct profile_function *f = profile_function(v->r->profile, v->function);

	*s = (struct annotate_source){ .file = file };
	if (symbolizer_source(profile_symbolizer(v->r->profile), f->sym_image, file,
			      &s->text, why) < 0) {
		buf_fini(&s->text);
		s->text = (struct buf){ 0 };
		return false;
	}
	cut_lines(s);
	return true;
}

const char *annotate_source_line(const struct annotate_source *s, uint32_t n)
{
	return n && n <= s->n ? s->lines[n - 1] : "";
}

/* The rows of one file: they follow each other. */
static size_t end_of_file(const struct listing_rows *lines, size_t from)
{
	size_t i = from;

	while (i < lines->n && lines->rows[i].file == lines->rows[from].file)
		i++;
	return i;
}

bool annotate_source_is_available(const struct annotate_view *v)
{
	const struct listing_rows *lines = &v->listing.lines;

	for (size_t i = 0; i < lines->n; i = end_of_file(lines, i)) {
		own(annotate_source_fini) struct annotate_source s = { 0 };

		if (lines->rows[i].file &&
		    annotate_source_load(&s, v, lines->rows[i].file, NULL))
			return true;
	}
	return false;
}

/* What was inlined into a line, below it. */
static void put_inlined(const struct annotate_view *v, struct report_table *t,
			const char *file, uint32_t line)
{
	const struct listing_rows *inlined = &v->listing.inlined;

	for (size_t i = 0; i < inlined->n; i++) {
		const struct listing_row *row = &inlined->rows[i];
		own(buf_fini) struct buf text = { 0 };

		if (row->file != file || row->line != line)
			continue;
		buf_printf(&text, "    ↳ inlined %s",
			   profile_function(v->r->profile, row->function)->name);
		annotate_view_row(v, t, row->exclusive, row->inclusive, "",
				  buf_str(&text));
	}
}

/* The part of a file that is shown. */
struct extent {
	uint32_t from, to;
};

static struct extent extent_of(const struct annotate_view *v,
			       const struct annotate_source *s,
			       const struct listing_row *rows, size_t n)
{
	const struct profile_function *f = profile_function(v->r->profile, v->function);
	uint32_t first = rows[0].line, last = rows[n - 1].line;
	struct extent e = { first > CONTEXT ? first - CONTEXT : 1, last + CONTEXT };

	if (f->decl_line && f->decl_file && strcmp(f->decl_file, s->file) == 0 &&
	    f->decl_line <= first && first - f->decl_line < MAX_ABOVE)
		e.from = f->decl_line;
	if (s->n && e.to > s->n)
		e.to = s->n > last ? (uint32_t)s->n : last;
	return e;
}

static bool is_near(const struct listing_row *rows, size_t n, uint32_t line)
{
	for (size_t i = 0; i < n; i++)
		if (line + CONTEXT >= rows[i].line && line <= rows[i].line + CONTEXT)
			return true;
	return false;
}

static void put_file(const struct annotate_view *v, const struct annotate_source *s,
		     const struct listing_row *rows, size_t n, FILE *out)
{
	own(report_table_freep) struct report_table *t =
		annotate_view_table(v, "Line", s->file);
	struct extent e = extent_of(v, s, rows, n);
	size_t hidden = 0, k = 0;

	for (uint32_t line = e.from; line <= e.to; line++) {
		char number[16];

		while (k < n && rows[k].line < line)
			k++;
		if (!v->all && line != e.from && !is_near(rows, n, line)) {
			hidden++;
			continue;
		}
		if (hidden)
			annotate_view_gap(v, t, hidden);
		hidden = 0;
		snprintf(number, sizeof(number), "%u", line);

		const struct listing_row *row =
			k < n && rows[k].line == line ? &rows[k] : NULL;

		annotate_view_row(v, t, row ? row->exclusive : NULL,
				  row ? row->inclusive : NULL, number,
				  annotate_source_line(s, line));
		if (row)
			put_inlined(v, t, s->file, line);
	}
	report_table_print(t, out);
}

/* Lines of a file that is not at hand: numbers only. */
static void put_numbers(const struct annotate_view *v, const struct annotate_source *s,
			const struct listing_row *rows, size_t n, const char *why,
			FILE *out)
{
	own(report_table_freep) struct report_table *t =
		annotate_view_table(v, "Line", s->file ? s->file : "(no line)");

	for (size_t i = 0; i < n; i++) {
		char number[16] = "?";

		if (rows[i].line)
			snprintf(number, sizeof(number), "%u", rows[i].line);
		annotate_view_row(v, t, rows[i].exclusive, rows[i].inclusive, number, "");
		if (s->file)
			put_inlined(v, t, s->file, rows[i].line);
	}
	report_table_print(t, out);
	if (why[0]) {
		char safe[300];

		fprintf(out, "  %s\n", text_printable(safe, sizeof(safe), why));
	}
}

void annotate_source_print(const struct annotate_view *v, FILE *out)
{
	const struct listing_rows *lines = &v->listing.lines;
	size_t end;

	for (size_t i = 0; i < lines->n; i = end) {
		const struct listing_row *rows = &lines->rows[i];
		own(annotate_source_fini) struct annotate_source s = { 0 };
		struct err why = { 0 };

		end = end_of_file(lines, i);
		if (i)
			fputc('\n', out);
		if (rows->file && annotate_source_load(&s, v, rows->file, &why)) {
			/* Line 0, the compiler's own, comes first: it has no place. */
			size_t skip = rows->line == 0 && end - i > 1;

			put_file(v, &s, rows + skip, end - i - skip, out);
		} else {
			put_numbers(v, &s, rows, end - i, why.text, out);
		}
	}
}

void annotate_source_json(const struct annotate_view *v, struct json *j)
{
	const struct listing_rows *const parts[] = { &v->listing.lines,
						     &v->listing.inlined };
	static const char *const keys[] = { "lines", "inlined" };

	for (size_t k = 0; k < 2; k++) {
		json_key(j, keys[k]);
		json_array(j);
		for (size_t i = 0; i < parts[k]->n; i++) {
			const struct listing_row *row = &parts[k]->rows[i];

			json_object(j);
			json_key_str(j, "file", row->file);
			json_key_u64(j, "line", row->line);
			if (row->function != MODEL_NONE) {
				json_key(j, "function");
				json_object(j);
				report_json_function(j, v->r, row->function);
				json_object_end(j);
			}
			report_json_values(j, v->r, "exclusive", row->exclusive);
			report_json_values(j, v->r, "inclusive", row->inclusive);
			if (v->cells)
				compare_cells_json(v->cells, j, "inclusive",
						   row->inclusive);
			json_object_end(j);
		}
		json_array_end(j);
	}
}
