/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/row_view.h"

#include <stdlib.h>
#include <string.h>

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

/* Whether a dimension has a second name beside the row's own. */
static bool has_image(const struct row_view *v)
{
	return v->d->scope == DIMENSION_FRAME && strcmp(v->d->name, "image") != 0 &&
	       strcmp(v->d->name, "file") != 0;
}

bool row_view_has_function(const struct row_view *v)
{
	return strcmp(v->d->name, "line") == 0 || strcmp(v->d->name, "instruction") == 0;
}

void row_view_add_names(const struct row_view *v, struct report_table *t)
{
	if (row_view_has_function(v)) {
		report_table_name(t, v->d->title, 2);
		report_table_name(t, "Function", 3);
	} else {
		report_table_name(t, v->d->title, 3);
	}
	if (has_image(v))
		report_table_name(t, "Image", 2);
}

void row_view_put_names(const struct row_view *v, struct report_table *t, size_t row)
{
	struct dimension_label label;

	grouping_label(v->g, row, &label);
	report_table_cell(t, buf_str(&label.name));
	if (row_view_has_function(v))
		report_table_cell(
			t,
			label.function == MODEL_NONE
				? ""
				: profile_function(v->r->profile, label.function)->label);
	if (has_image(v))
		report_table_cell(t, label.image);
	grouping_label_fini(&label);
}
