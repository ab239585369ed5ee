/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/annotate_code.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/text.h"
#include "cmd/report_text.h"
#include "base/vec.h"
#include "cmd/annotate_source.h"
#include "cmd/code_text.h"
#include "cmd/report_json.h"

#define CONTEXT	       4   /* instructions around one that has weight */
#define WIDE	       100 /* columns from which the line is named beside the code */
#define MAX_CODE_BYTES (4 << 20) /* of one function */

struct line_of_code {
	uint64_t address;
	uint8_t size;
	const char *text; /* owned */
	const char *file; /* or NULL */
	uint32_t line;
	uint32_t inlined; /* the function that was inlined here; MODEL_NONE */
	uint64_t *exclusive, *inclusive; /* NULL: no weight */
};

struct code {
	const struct annotate_view *v;
	VEC(struct line_of_code) lines;
	uint64_t *values; /* of all lines that have weight */
	struct sym_line_row *line_rows;
	size_t n_line_rows;
	struct annotate_source source; /* the file shown last */
	const char *no_source;	       /* a file that is not at hand */
	struct err why;		       /* of an empty listing */
};

static void code_fini(struct code *c)
{
	vec_each(l, &c->lines)
		free((void *)(uintptr_t)l->text);
	vec_fini(&c->lines);
	free(c->values);
	free(c->line_rows);
	annotate_source_fini(&c->source);
}

static const struct profile_function *function_of(const struct code *c)
{
	return profile_function(c->v->r->profile, c->v->function);
}

static void set_line(struct code *c, struct line_of_code *l, size_t *at)
{
	while (*at < c->n_line_rows && c->line_rows[*at].end <= l->address)
		(*at)++;
	if (*at < c->n_line_rows && c->line_rows[*at].address <= l->address) {
		l->file = c->line_rows[*at].file;
		l->line = c->line_rows[*at].line;
	}
}

static int disassemble(struct code *c, const struct buf *bytes, struct err *e)
{
	const struct profile_function *f = function_of(c);
	own(code_text_fini) struct code_text text;
	int rc = code_text_init(&text, c->v->r->profile, c->v->function, c->v->is_intel,
				e);
	size_t row = 0;

	text.delta = c->v->listing.code_delta;
	text.has_delta = c->v->listing.has_code_delta;

	for (size_t at = 0, n; rc == 0 && at < bytes->size; at += n) {
		struct disasm_instruction i;

		n = disasm_decode(text.disasm, bytes->data + at, bytes->size - at,
				  f->start + at, &i);
		if (!n)
			break;
		*vec_push(&c->lines) = (struct line_of_code){
			.address = i.address,
			.size = (uint8_t)n,
			.text = xasprintf("%-7s %s", i.mnemonic, i.operands),
			.inlined = MODEL_NONE,
		};
		set_line(c, &c->lines.at[c->lines.n - 1], &row);
	}
	return rc;
}

/* The instruction that a sample's address means: a return address the one before it. */
static struct line_of_code *line_at(struct code *c, const struct listing_row *row)
{
	uint64_t address = row->address - row->is_return;
	size_t low = search_split(
		c->lines.n, i, c->lines.at[i].address + c->lines.at[i].size <= address);

	return low < c->lines.n && c->lines.at[low].address <= address ? &c->lines.at[low]
								       : NULL;
}

static void charge(struct code *c)
{
	const struct listing_rows *rows = &c->v->listing.instructions;
	size_t n = c->v->listing.n_columns, used = 0;

	c->values = xcalloc(2 * rows->n * n + 1, sizeof(uint64_t));
	for (size_t i = 0; i < rows->n; i++) {
		const struct listing_row *row = &rows->rows[i];
		struct line_of_code *l = line_at(c, row);

		if (!l)
			continue;
		if (!l->exclusive) {
			l->exclusive = c->values + used;
			l->inclusive = c->values + used + n;
			used += 2 * n;
		}
		for (size_t k = 0; k < n; k++) {
			l->exclusive[k] += row->exclusive[k];
			l->inclusive[k] += row->inclusive[k];
		}
		l->inlined = row->function;
		l->file = row->file ? row->file : l->file;
		l->line = row->file ? row->line : l->line;
	}
}

/* Without the bytes: the addresses that were sampled, as they are. */
static void list_addresses(struct code *c)
{
	const struct listing_rows *rows = &c->v->listing.instructions;
	const struct profile_function *f = function_of(c);

	for (size_t i = 0; i < rows->n; i++) {
		uint64_t address = rows->rows[i].address;

		*vec_push(&c->lines) = (struct line_of_code){
			.address = address,
			.size = 1,
			.text = f->start && address >= f->start
					? xasprintf("+0x%" PRIx64, address - f->start)
					: xstrdup(""),
			.file = rows->rows[i].file,
			.line = rows->rows[i].line,
			.inlined = rows->rows[i].function,
			.exclusive = rows->rows[i].exclusive,
			.inclusive = rows->rows[i].inclusive,
		};
	}
}

static void make_code(struct code *c, const struct annotate_view *v)
{
	own(buf_fini) struct buf bytes = { 0 };
	int rc;

	*c = (struct code){ .v = v };

	const struct profile_function *f = function_of(c);
	struct symbolizer *s = profile_symbolizer(v->r->profile);

	if (!f->start)
		rc = err_set(&c->why, ERR_UNSUPPORTED,
			     "it is only inlined: annotate one of its callers ('dwell "
			     "callers' names them)");
	else if (!f->size || f->size > MAX_CODE_BYTES)
		rc = err_set(&c->why, ERR_UNSUPPORTED, "its size is not known");
	else
		rc = symbolizer_code(s, f->sym_image, f->start, f->size, &bytes, &c->why);
	if (rc == 0 && symbolizer_lines(s, f->sym_image, f->start, f->size, &c->line_rows,
					&c->n_line_rows, NULL) < 0)
		c->n_line_rows = 0;
	if (rc == 0)
		rc = disassemble(c, &bytes, &c->why);
	if (rc == 0)
		charge(c);
	else
		list_addresses(c);
}

static bool is_near(const struct code *c, size_t i)
{
	size_t from = i > CONTEXT ? i - CONTEXT : 0;
	size_t to = i + CONTEXT < c->lines.n ? i + CONTEXT : c->lines.n - 1;

	for (size_t k = from; k <= to; k++)
		if (c->lines.at[k].exclusive)
			return true;
	return false;
}

/* The line above its instructions, with its text where the file is at hand. */
static void put_source(struct code *c, struct report_table *t,
		       const struct line_of_code *l)
{
	own(buf_fini) struct buf text = { 0 };
	const char *line = "";

	if (!l->file)
		return;
	if (c->source.file != l->file && c->no_source != l->file) {
		annotate_source_fini(&c->source);
		if (!annotate_source_load(&c->source, c->v, l->file, NULL)) {
			c->no_source = l->file;
			c->source.file = NULL;
		}
	}
	if (c->source.file == l->file)
		line = annotate_source_line(&c->source, l->line);
	buf_printf(&text, "%s:%u  %s", names_base(l->file), l->line,
		   line + strspn(line, " "));
	annotate_view_row(c->v, t, NULL, NULL, "", buf_str(&text));
}

static void put_instruction(const struct code *c, struct report_table *t,
			    const struct line_of_code *l,
			    const struct line_of_code *before, bool with_source)
{
	own(buf_fini) struct buf text = { 0 };
	bool is_new_line = !before || before->file != l->file || before->line != l->line;
	char at[24];

	snprintf(at, sizeof(at), "%" PRIx64, l->address);
	buf_printf(&text, "%s%s", with_source ? "  " : "", l->text);
	if (l->file && is_new_line && !with_source && c->v->r->width >= WIDE)
		buf_printf(&text, "%*s  ; %s:%u",
			   text.size < 48 ? 48 - (int)text.size : 0, "",
			   names_base(l->file), l->line);
	if (l->inlined != MODEL_NONE && (is_new_line || l->exclusive))
		buf_printf(&text, "  ← inlined %s",
			   profile_function(c->v->r->profile, l->inlined)->name);
	annotate_view_row(c->v, t, l->exclusive, l->inclusive, at, buf_str(&text));
}

static void put_other_builds(const struct annotate_view *v, FILE *out)
{
	const struct profile_function *f = profile_function(v->r->profile, v->function);

	for (size_t i = 0; i < profile_n_sources(v->r->profile); i++) {
		own(buf_fini) struct buf b = { 0 };

		if (!v->listing.has_other_build[i])
			continue;
		report_text_source(v->r, i, &b);
		buf_puts(&b, "Not in this code: samples of another build of ");
		report_text_safe(&b, f->image);
		fprintf(out, "  %s\n", buf_str(&b));
	}
}

void annotate_code_print(const struct annotate_view *v, bool with_source, FILE *out)
{
	own(code_fini) struct code c;
	const struct line_of_code *before = NULL;
	size_t hidden = 0;

	make_code(&c, v);

	own(report_table_freep) struct report_table *t =
		annotate_view_table(v, "Address", "Instruction");

	for (size_t i = 0; i < c.lines.n; i++) {
		const struct line_of_code *l = &c.lines.at[i];

		if (!v->all && i && !is_near(&c, i)) {
			hidden++;
			continue;
		}
		if (hidden) {
			annotate_view_gap(v, t, hidden);
			before = NULL;
		}
		hidden = 0;
		if (with_source &&
		    (!before || before->file != l->file || before->line != l->line))
			put_source(&c, t, l);
		put_instruction(&c, t, l, before, with_source);
		before = l;
	}
	if (hidden)
		annotate_view_gap(v, t, hidden);
	if (c.lines.n)
		report_table_print(t, out);
	put_other_builds(v, out);
	if (c.why.text[0]) {
		char safe[300];

		fprintf(out, "  No instructions: %s\n",
			text_printable(safe, sizeof(safe), c.why.text));
	}
}

void annotate_code_json(const struct annotate_view *v, struct json *j)
{
	own(code_fini) struct code c;

	make_code(&c, v);
	json_key(j, "instructions");
	json_array(j);
	for (size_t i = 0; i < c.lines.n; i++) {
		const struct line_of_code *l = &c.lines.at[i];

		json_object(j);
		json_key_u64(j, "address", l->address);
		json_key_str(j, "text", l->text);
		if (l->file) {
			json_key_str(j, "file", l->file);
			json_key_u64(j, "line", l->line);
		}
		if (l->inlined != MODEL_NONE)
			json_key_str(j, "inlined",
				     profile_function(v->r->profile, l->inlined)->name);
		if (l->exclusive) {
			report_json_values(j, v->r, "exclusive", l->exclusive);
			report_json_values(j, v->r, "inclusive", l->inclusive);
		}
		json_object_end(j);
	}
	json_array_end(j);
}
