/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/row_next.h"

#include "analyze/waits.h"
#include "base/mem.h"
#include "cmd/report_text.h"
#include "cmd/row_code.h"

/* Where most of what waits does so; MODEL_NONE when that is less than a third of all. */
static uint32_t main_wait(const struct row_view *v)
{
	const struct profile *p = v->r->profile;
	uint64_t total = row_view_total(v, v->r->sort_column);

	for (size_t c = 0; c < profile_n_columns(p); c++) {
		const struct profile_column *column = profile_column(p, c);
		own(freep) struct wait *waits = NULL;

		if (!waits_is_column(column) || column->total_weight * 3 < total ||
		    (c != v->r->sort_column && column->whole != v->r->sort_column))
			continue;
		if (waits_find(p, c, &waits))
			return waits[0].function;
	}
	return MODEL_NONE;
}

static uint32_t function_to_try(const struct row_view *v, size_t row)
{
	uint32_t f = main_wait(v);
	struct dimension_label label;

	if (f != MODEL_NONE)
		return f;
	grouping_label(v->g, row, &label);
	f = label.function;
	grouping_label_fini(&label);
	return f;
}

/* Of these calc tells more than annotate. */
static bool has_stalls(const struct row_view *v)
{
	return v->code && row_code_has_stalls(v->code);
}

void row_next_print(const struct row_view *v, size_t row, bool is_compared, FILE *out)
{
	/* Ideal time is no event that both have. */
	bool is_diff = is_compared && !v->comparison.is_ideal;

	if (v->d->scope != DIMENSION_FRAME)
		return;

	uint32_t f = function_to_try(v, row);

	if (f == MODEL_NONE)
		return;

	const char *next[] = { is_diff	       ? "diff --annotate "
			       : has_stalls(v) ? "calc "
					       : "annotate ",
			       is_diff ? "diff --callers " : "callers ",
			       !is_compared ? "tree"
			       : is_diff    ? "diff --tree"
					    : "lines --compare ideal" };
	/* A label has callers, and no code. */
	size_t from = profile_function(v->r->profile, f)->kind == IMAGE_LABEL;

	report_text_next_of(v->r, f, next + from, 3 - from, out);
}
