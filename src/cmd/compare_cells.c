/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/compare_cells.h"

#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "cmd/report_json.h"
#include "cmd/report_value.h"

static size_t column_of(const struct compare_cells *c, size_t source)
{
	return comparison_column(c->comparison, c->event, source);
}

static const struct profile_column *at(const struct compare_cells *c, size_t source)
{
	return profile_column(c->r->profile, column_of(c, source));
}

static double factor_of(const struct compare_cells *c, size_t source)
{
	return comparison_factor(c->comparison, c->r->profile, c->event, source);
}

struct comparison_change compare_cells_change(const struct compare_cells *c,
					      size_t source, const uint64_t *values)
{
	size_t before = column_of(c, 0), after = column_of(c, source);

	return comparison_of(c->r->profile, before, values[before], after, values[after],
			     factor_of(c, source));
}

static uint64_t weight_of(struct comparison_change change, bool is_ratio)
{
	if (change.is_chance || change.delta == 0)
		return 0;
	if (!is_ratio)
		return (uint64_t)llabs(change.delta);
	if (isinf(change.ratio) || change.ratio == 0)
		return UINT32_MAX;
	return (uint64_t)(fabs(log2(change.ratio)) * 1e6);
}

uint64_t compare_cells_weight(const struct compare_cells *c, const uint64_t *values,
			      bool is_ratio)
{
	uint64_t most = 0;

	for (size_t i = 1; i < c->comparison->n_sources; i++) {
		uint64_t w = weight_of(compare_cells_change(c, i, values), is_ratio);

		most = w > most ? w : most;
	}
	return most;
}

bool compare_cells_is_chance(const struct compare_cells *c, const uint64_t *values)
{
	for (size_t i = 1; i < c->comparison->n_sources; i++) {
		struct comparison_change change = compare_cells_change(c, i, values);

		if (change.is_chance && change.delta)
			return true;
	}
	return false;
}

static struct report_scale scale_of(const struct compare_cells *c)
{
	uint64_t largest = 0;

	for (size_t i = 0; i < c->comparison->n_sources; i++)
		if (at(c, i)->total_weight > largest)
			largest = at(c, i)->total_weight;
	return report_value_scale(largest, at(c, 0)->unit);
}

void compare_cells_titles(const struct compare_cells *c, struct report_table *t,
			  const char *what)
{
	for (size_t i = 0; i < c->comparison->n_sources; i++) {
		own(freep) char *value =
			c->comparison->is_ideal
				? xasprintf("%s\n%s", what, i ? "Sampled" : "Ideal")
				: xasprintf("%s\n[%zu]", what, i + 1);

		if (c->has_values) {
			report_table_number(t, value);
			what = "";
		}
		if (!i)
			continue;

		own(freep) char *change = xasprintf(
			"%s\n%s", what, c->comparison->is_ideal ? "Gap" : "Change");

		report_table_number(t, change);
		what = "";
		if (c->has_ratio)
			report_table_number(t, "Ratio");
	}
}

static void put_change(const struct compare_cells *c, struct report_table *t,
		       size_t source, const uint64_t *values,
		       const struct report_scale *scale)
{
	struct comparison_change change = compare_cells_change(c, source, values);
	double ratio = change.ratio;
	char s[TEXT_MAX];

	/* What only one of them can have is neither new nor gone. */
	if (c->comparison->is_ideal && (isinf(ratio) || ratio == 0))
		ratio = (double)NAN;
	report_table_decorated(t, change.is_chance && change.delta ? "~ " : "",
			       report_value_change(s, change.delta, scale), "");
	if (c->has_ratio)
		report_table_cell(t, report_value_ratio(s, ratio));
}

static void put_nothing(const struct compare_cells *c, struct report_table *t)
{
	size_t n = c->has_values ? c->comparison->n_sources : 0;

	n += (c->comparison->n_sources - 1) * (1 + c->has_ratio);
	while (n--)
		report_table_cell(t, "");
}

void compare_cells_put(const struct compare_cells *c, struct report_table *t,
		       const uint64_t *values)
{
	struct report_scale scale = scale_of(c);
	char s[TEXT_MAX];

	if (!values) {
		put_nothing(c, t);
		return;
	}
	for (size_t i = 0; i < c->comparison->n_sources; i++) {
		double value = (double)values[column_of(c, i)] * factor_of(c, i);

		if (c->has_values)
			report_table_cell(
				t,
				report_value_text(s, (uint64_t)llround(value), &scale));
		if (i)
			put_change(c, t, i, values, &scale);
	}
}

void compare_cells_print_notes(const struct compare_cells *c, bool has_chance, FILE *out)
{
	if (c->comparison->is_share)
		fputs("all scaled to the total of [1]: shares are compared\n", out);
	if (c->comparison->is_ideal)
		fputs("Gap: what waits for memory, branches foreseen wrongly and the "
		      "kernel add to ideal time\n",
		      out);
	if (has_chance)
		fputs("~ so few samples may differ as much by chance (two standard "
		      "errors)\n",
		      out);
}

enum what { CHANGE, RATIO, CHANCE, N_WHATS };

static void put_json_value(struct json *j, enum what what, struct comparison_change c)
{
	if (what == CHANGE)
		json_i64(j, c.delta);
	else if (what == RATIO)
		json_double(j, c.ratio);
	else
		json_bool(j, c.is_chance);
}

void compare_cells_json(const struct compare_cells *cells, struct json *j,
			const char *key, const uint64_t *values)
{
	static const char *const suffixes[N_WHATS] = { "change", "ratio", "chance" };
	struct compare_cells c = *cells;

	for (unsigned what = 0; what < N_WHATS; what++) {
		own(freep) char *name = xasprintf("%s_%s", key, suffixes[what]);

		json_key(j, name);
		json_object(j);
		for (c.event = 0; c.event < c.comparison->n_events; c.event++)
			for (size_t i = 1; i < c.comparison->n_sources; i++) {
				report_json_event(j, c.r, column_of(&c, i));
				put_json_value(j, (enum what)what,
					       compare_cells_change(&c, i, values));
			}
		json_object_end(j);
	}
}
