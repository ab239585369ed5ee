/* SPDX-License-Identifier: Apache-2.0
 *
 * csv - functions x events for spreadsheets, quoted as in RFC 4180.
 *
 * One row per function with its exclusive and inclusive weight of every event, in the
 * event's unit, the heaviest first; the exclusive columns sum to the events' totals.
 */
#include <inttypes.h>
#include <string.h>

#include "analyze/metrics.h"
#include "base/mem.h"
#include "export/exporter.h"
#include "export/plain_text.h"

struct csv {
	const struct profile *p;
	FILE *out;
	size_t first_column, n_columns; /* those to write */
	struct metrics sums;		/* a row per function */
	uint32_t *order;		/* functions, heaviest first */
};

static void csv_fini(struct csv *c)
{
	metrics_fini(&c->sums);
	free(c->order);
}

static void put_field(FILE *out, const char *s)
{
	/* A spreadsheet runs a cell that begins like this; the apostrophe makes it
	 * text, and names may come from hostile programs. */
	bool is_formula = *s && strchr("=+-@", *s);

	fputc('"', out);
	if (is_formula)
		fputc('\'', out);
	plain_text_put(out, s, '"', "\"\"");
	fputc('"', out);
}

static void put_header(struct csv *c)
{
	static const char *const metrics[] = { "exclusive", "inclusive" };
	own(buf_fini) struct buf label = { 0 }, title = { 0 };

	fputs("function,image,file,line", c->out);
	for (size_t i = c->first_column; i < c->first_column + c->n_columns; i++) {
		for (size_t m = 0; m < 2; m++) {
			buf_clear(&title);
			buf_printf(&title, "%s %s [%s]",
				   exporter_column_label(c->p, i, &label), metrics[m],
				   profile_column(c->p, i)->unit);
			fputc(',', c->out);
			put_field(c->out, buf_str(&title));
		}
	}
	fputs("\r\n", c->out);
}

/* The values of a row in the columns to write. */
static const uint64_t *row_values(const struct csv *c, const uint64_t *sums, size_t row)
{
	return sums + row * c->sums.n_columns + c->first_column;
}

static void put_values(struct csv *c, const uint64_t *exclusive,
		       const uint64_t *inclusive)
{
	for (size_t i = 0; i < c->n_columns; i++)
		fprintf(c->out, ",%" PRIu64 ",%" PRIu64, exclusive[i], inclusive[i]);
	fputs("\r\n", c->out);
}

static bool is_zero(const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (values[i])
			return false;
	return true;
}

static void put_function(struct csv *c, uint32_t id)
{
	const struct profile_function *f = profile_function(c->p, id);
	const uint64_t *inclusive = row_values(c, c->sums.inclusive, id);

	if (is_zero(inclusive, c->n_columns))
		return;
	put_field(c->out, f->name);
	fputc(',', c->out);
	put_field(c->out, f->image);
	fputc(',', c->out);
	put_field(c->out, f->decl_file ? f->decl_file : "");
	fprintf(c->out, f->decl_line ? ",%" PRIu32 : ",", f->decl_line);
	put_values(c, row_values(c, c->sums.exclusive, id), inclusive);
}

/* What samples without a stack weigh: the functions' exclusive sums lack it. */
static void put_no_stack(struct csv *c)
{
	own(freep) uint64_t *rest = xcalloc(c->n_columns, sizeof(*rest));

	for (size_t i = 0; i < c->n_columns; i++) {
		rest[i] = profile_column(c->p, c->first_column + i)->total_weight;
		for (size_t row = 0; row < c->sums.n_rows; row++)
			rest[i] -= row_values(c, c->sums.exclusive, row)[i];
	}
	if (is_zero(rest, c->n_columns))
		return;
	fputs("\"[no stack]\",\"\",\"\",", c->out);
	put_values(c, rest, rest);
}

/* By the first event's exclusive weight, then by its inclusive one. */
static int compare_functions(const void *va, const void *vb, void *ctx)
{
	const struct csv *c = ctx;
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;
	uint64_t ex_a = *row_values(c, c->sums.exclusive, a);
	uint64_t ex_b = *row_values(c, c->sums.exclusive, b);
	uint64_t in_a = *row_values(c, c->sums.inclusive, a);
	uint64_t in_b = *row_values(c, c->sums.inclusive, b);

	if (ex_a != ex_b)
		return ex_a < ex_b ? 1 : -1;
	if (in_a != in_b)
		return in_a < in_b ? 1 : -1;
	return a < b ? -1 : a > b;
}

static void put_functions(struct csv *c)
{
	uint32_t n = profile_n_functions(c->p);

	metrics_sum(&c->sums, c->p, NULL, n);
	c->order = xcalloc(n + 1, sizeof(*c->order));
	for (uint32_t i = 0; i < n; i++)
		c->order[i] = i;
	qsort_r(c->order, n, sizeof(*c->order), compare_functions, c);
	for (uint32_t i = 0; i < n; i++)
		put_function(c, c->order[i]);
	put_no_stack(c);
}

static int csv_write(const struct profile *p, const struct export_options *o, FILE *out,
		     struct err *e)
{
	own(csv_fini) struct csv c = { .p = p, .out = out };

	c.n_columns = exporter_columns(p, o, &c.first_column);
	put_header(&c);
	if (c.n_columns > 0)
		put_functions(&c);
	return exporter_finish(out, e);
}

const struct exporter export_csv = {
	.name = "csv",
	.suffix = "csv",
	.mime = "text/csv",
	.summary = "functions x events, for spreadsheets",
	.write = csv_write,
};
