/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/row_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/names.h"
#include "base/mem.h"
#include "cmd/report_text.h"
#include "cmd/row_code.h"

int row_view_open(struct row_view *v, bool is_shared, struct err *e)
{
	const struct profile *p = v->r->profile;
	int rc = is_shared ? grouping_make_shared(p, v->d, &v->g, e)
			   : grouping_make(p, v->d, &v->g, e);

	if (rc < 0)
		return rc;
	v->m = grouping_metrics(v->g);
	v->n_events = v->r->n_shown;
	v->rows = xcalloc(v->m->n_rows + 1, sizeof(*v->rows));
	for (size_t i = 0; i < v->m->n_rows; i++)
		v->rows[i].id = i;
	return 0;
}

void row_view_fini(struct row_view *v)
{
	grouping_free(v->g);
	comparison_fini(&v->comparison);
	arena_fini(&v->names);
	free(v->rows);
}

uint64_t row_view_total(const struct row_view *v, size_t column)
{
	return profile_column(v->r->profile, column)->total_weight;
}

const uint64_t *row_view_values(const struct row_view *v, size_t row, bool is_inclusive)
{
	return (is_inclusive ? v->m->inclusive : v->m->exclusive) + row * v->m->n_columns;
}

uint64_t row_view_share(const struct row_view *v, size_t row, size_t column,
			bool is_inclusive)
{
	double total = (double)row_view_total(v, column);
	double value = (double)row_view_values(v, row, is_inclusive)[column];

	return total > 0 ? (uint64_t)(value / total * 1e12) : 0;
}

uint64_t row_view_largest_share(const struct row_view *v, size_t row, bool is_inclusive)
{
	const struct comparison *c = &v->comparison;
	bool is_compared = c->n_events && !v->r->json;
	const size_t *columns = is_compared ? c->columns : v->r->shown;
	size_t n = is_compared ? v->n_events * c->n_sources : v->n_events;
	uint64_t largest = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t share = row_view_share(v, row, columns[i], is_inclusive);

		largest = share > largest ? share : largest;
	}
	return largest;
}

int row_view_fit(struct row_view *v, row_view_fit_fn *n_events, row_view_order_fn *order,
		 size_t *ret_n_others, struct err *e)
{
	size_t n_all = v->n_nonzero, n;
	int rc = 0;

	*ret_n_others = 0;
	while (rc == 0 && v->n_shown && (n = n_events(v)) < v->n_events) {
		v->n_events = n;
		rc = order(v, e);
		*ret_n_others = n_all - v->n_nonzero;
	}
	return rc;
}

void row_view_name_rows(struct row_view *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct dimension_label label;

		grouping_label(v->g, v->rows[i].id, &label);
		v->rows[i].name = arena_strdup(&v->names, buf_str(&label.name));
		grouping_label_fini(&label);
	}
}

/* Whether a dimension has a second name beside the row's own. */
static bool has_image(const struct row_view *v)
{
	return v->d->scope == DIMENSION_FRAME && strcmp(v->d->name, "image") != 0 &&
	       strcmp(v->d->name, "file") != 0;
}

static bool is_instruction(const struct row_view *v)
{
	return strcmp(v->d->name, "instruction") == 0;
}

bool row_view_has_function(const struct row_view *v)
{
	return strcmp(v->d->name, "line") == 0 || is_instruction(v);
}

static bool has_text(const struct row_view *v)
{
	return v->code && row_code_has_text(v->code);
}

static bool has_lines(const struct row_view *v)
{
	return v->code && row_code_has_lines(v->code);
}

void row_view_add_names(const struct row_view *v, struct report_table *t)
{
	if (is_instruction(v)) {
		report_table_number(t, v->d->title);
		if (has_text(v))
			report_table_text(t, "Instruction", 3);
		report_table_name(t, "Function", 3);
	} else if (row_view_has_function(v)) {
		report_table_name(t, v->d->title, 2);
		report_table_name(t, "Function", 3);
	} else if (v->d->is_sentence) {
		report_table_text(t, v->d->title, 3);
	} else {
		report_table_name(t, v->d->title, 3);
	}
	if (has_lines(v))
		report_table_name(t, "Line", 2);
	if (has_image(v))
		report_table_name(t, "Image", 2);
}

static void put_line(struct report_table *t, const struct dimension_label *l)
{
	own(buf_fini) struct buf text = { 0 };

	if (l->file && l->line)
		buf_printf(&text, "%s:%" PRIu32, names_base(l->file), l->line);
	report_table_cell(t, buf_str(&text));
}

static const char *image_of(const struct row_view *v, const struct dimension_label *l)
{
	return l->function == MODEL_NONE
		       ? l->image
		       : report_text_image(profile_function(v->r->profile, l->function));
}

void row_view_put_names(const struct row_view *v, struct report_table *t, size_t row)
{
	struct dimension_label label;

	grouping_label(v->g, row, &label);
	report_table_cell(t, buf_str(&label.name));
	if (has_text(v))
		report_table_cell(t, row_code_text(v->code, row));
	if (row_view_has_function(v))
		report_table_cell(
			t,
			label.function == MODEL_NONE
				? ""
				: profile_function(v->r->profile, label.function)->label);
	if (has_lines(v))
		put_line(t, &label);
	if (has_image(v))
		report_table_cell(t, image_of(v, &label));
	grouping_label_fini(&label);
}

void row_view_json_names(const struct row_view *v, struct json *j, size_t row)
{
	struct dimension_label label;

	grouping_label(v->g, row, &label);
	json_key_str(j, "name", buf_str(&label.name));
	if (label.image)
		json_key_str(j, "image", label.image);
	if (row_view_has_function(v) && label.function != MODEL_NONE)
		json_key_str(j, "function",
			     profile_function(v->r->profile, label.function)->name);
	if (label.file)
		json_key_str(j, "file", label.file);
	if (label.line)
		json_key_u64(j, "line", label.line);
	if (label.address)
		json_key_u64(j, "address", label.address);
	grouping_label_fini(&label);
}
