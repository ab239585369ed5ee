/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/rows_view.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/report_head.h"
#include "cmd/report_options.h"

#define DEFAULT_ROWS 20

const struct option_spec rows_view_options[] = {
	REPORT_OPTIONS_LIMIT(DEFAULT_ROWS, "Print at most N rows of each table"),
	OPTION_END,
};

/* Options that not every kind has. */
static const char *word_of(const struct options *o, const char *name)
{
	return options_knows(o, name) ? options_str(o, name) : NULL;
}

static void choose_by(struct rows_view *v, const char *word)
{
	const struct rows_by *bys = v->kind->bys;

	for (unsigned i = 0; word && bys && bys[i].word; i++)
		if (strcmp(bys[i].word, word) == 0)
			v->by = i;
}

static void choose_key(struct rows_view *v, const char *word)
{
	const struct rows_key *keys = v->kind->keys;

	if (!keys)
		return;
	v->key = &keys[v->kind->bys ? v->kind->bys[v->by].key : 0];
	for (; word && keys->word; keys++)
		if (strcmp(keys->word, word) == 0)
			v->key = keys;
}

static uint64_t number_of(const struct rows_view *v, rows_number_fn *number, size_t at,
			  const void *row)
{
	return number ? number(v, row) : *(const uint64_t *)((const char *)row + at);
}

uint64_t rows_view_number(const struct rows_view *v, const struct rows_column *c,
			  const void *row)
{
	return number_of(v, c->number, c->at, row);
}

static int compare_by(const struct rows_view *v, const struct rows_key *key,
		      const void *x, const void *y)
{
	uint64_t m = number_of(v, key->number, key->at, x);
	uint64_t n = number_of(v, key->number, key->at, y);

	return (m < n) - (m > n);
}

int rows_view_compare(const struct rows_view *v, const void *x, const void *y)
{
	int order = compare_by(v, v->key, x, y);

	if (!order)
		order = compare_by(v, v->kind->keys, x, y);
	return order ? order : strcmp(v->kind->row_name(v, x), v->kind->row_name(v, y));
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct rows_view *v = ctx;
	const void *x = v->rows + *(const size_t *)a * v->size;
	const void *y = v->rows + *(const size_t *)b * v->size;

	return v->kind->compare ? v->kind->compare(v, x, y) : rows_view_compare(v, x, y);
}

void rows_view_take(struct rows_view *v, const void *rows, size_t n, size_t size)
{
	v->rows = rows;
	v->n = n;
	v->size = size;
	v->order = xcalloc(n + 1, sizeof(*v->order));
	for (size_t i = 0; i < n; i++)
		v->order[i] = i;
	if (v->key)
		qsort_r(v->order, n, sizeof(*v->order), compare, v);
}

void rows_view_part(struct rows_view *v, const char *title, const void *total, size_t n)
{
	size_t first = 0;

	vec_each(p, &v->parts)
		first += p->n;
	*vec_push(&v->parts) = (struct rows_part){
		.title = title, .total = total, .first = first, .n = n
	};
}

const void *rows_view_row(const struct rows_view *v, size_t i)
{
	return v->rows + v->order[i] * v->size;
}

size_t rows_view_shown(const struct rows_view *v, const struct rows_part *p)
{
	return report_options_shown(v->limit, p->n);
}

bool rows_view_is_end(const struct rows_column *c)
{
	return !c->title && !c->key && !c->json;
}

int rows_view_missing(const struct rows_view *v, struct err *e)
{
	const char *why = report_head_unrecorded(&v->report, v->kind->name);

	if (why)
		return err_set(e, ERR_UNSUPPORTED, "%s has no %s (not recorded: %s)",
			       v->report.paths[0], v->kind->subject, why);
	return err_set(e, ERR_UNSUPPORTED, "%s has no %s: record with 'dwell run -e %s'",
		       v->report.paths[0], v->kind->subject, v->kind->name);
}

static void view_fini(struct rows_view *v)
{
	free(v->order);
	vec_fini(&v->parts);
	report_profile_close(&v->report);
}

int rows_view_run(const struct rows_kind *kind, void *of, const struct options *o,
		  struct err *e)
{
	own(view_fini) struct rows_view v = { .kind = kind, .of = of };
	const struct report_rows rows = { .experiment = kind->name };
	int rc = report_profile_open(o, options_argv(o), &rows, &v.report, e);

	if (rc < 0)
		return rc;
	choose_by(&v, word_of(o, "by"));
	choose_key(&v, word_of(o, "sort"));
	v.limit = report_options_limit(o, DEFAULT_ROWS);
	v.has_histogram = options_knows(o, "histogram") && options_has(o, "histogram");
	rc = kind->load(&v, e);
	if (rc < 0)
		return rc;
	if (v.report.json)
		rows_json_print(&v, stdout);
	else
		rows_text_print(&v, stdout);
	return report_profile_check_whole(&v.report, e);
}
