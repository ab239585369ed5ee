/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cmd/report_json.h"
#include "cmd/stall_words.h"
#include "cmd/stalls_growth.h"
#include "cmd/stalls_view.h"
#include "insn/machine_model.h"

static void put_causes(struct json *j, const struct stalls_lines *lines)
{
	json_key(j, "causes");
	json_array(j);
	for (unsigned i = 0; i < STALL_N_CAUSES; i++) {
		const struct stalls_line *l = &lines->at[STALLS_CAUSES + i];

		json_object(j);
		json_key_str(j, "cause", l->text);
		json_key_double(j, "least_cycles", l->low);
		json_key_double(j, "most_cycles", l->high);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_waits(struct json *j, const struct stalls_lines *lines)
{
	json_key(j, "waits");
	json_array(j);
	for (unsigned i = 0; i < SCHEDULE_N_WAITS; i++) {
		const struct stalls_line *l = &lines->at[STALLS_WAITS + i];

		json_object(j);
		json_key_str(j, "wait", l->text);
		json_key_double(j, "cycles", l->mean);
		if (l->is_range) {
			json_key_double(j, "cycles_low", l->low);
			json_key_double(j, "cycles_high", l->high);
		}
		json_object_end(j);
	}
	json_array_end(j);
}

/* Parts that have one number, or where that is estimated three. */
static const struct {
	const char *mean, *low, *high; /* keys */
	uint8_t line;
} parts[] = {
#define PART(name, line)                                                                 \
	{                                                                                \
		name "_cycles", name "_cycles_low", name "_cycles_high", line            \
	}
	PART("dynamic", STALLS_DYNAMIC),     PART("unexplained", STALLS_UNEXPLAINED),
	PART("gained", STALLS_GAIN),	     PART("static", STALLS_STATIC),
	PART("execution", STALLS_EXECUTION), PART("error", STALLS_ERROR),
#undef PART
};

static void put_parts(struct json *j, const struct stalls_lines *lines)
{
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		const struct stalls_line *l = &lines->at[parts[i].line];

		json_key_double(j, parts[i].mean, l->mean);
		if (!l->is_range)
			continue;
		json_key_double(j, parts[i].low, l->low);
		json_key_double(j, parts[i].high, l->high);
	}
}

static void put_sum(struct json *j, const struct stall_sum *s,
		    const struct stalls_lines *lines)
{
	json_key_u64(j, "samples", s->samples);
	json_key_double(j, "cycles", s->cycles);
	json_key_double(j, "instructions", s->instructions);
	if (s->instructions_low < s->instructions_high) {
		json_key_double(j, "instructions_low", s->instructions_low);
		json_key_double(j, "instructions_high", s->instructions_high);
	}
	json_key_double(j, "best_cycles", s->best);
	put_parts(j, lines);
	json_key_double(j, "explained_cycles", s->explained);
	put_causes(j, lines);
	put_waits(j, lines);
	json_key_u64(j, "stalls", s->n_stalls);
	json_key_u64(j, "candidates", s->n_candidates);
	if (s->explained + s->unexplained > 0)
		json_key_double(j, "candidates_by_cycles",
				s->candidates / (s->explained + s->unexplained));
}

static void put_left(struct json *j, const char *key, const struct stalls_left *l)
{
	json_key(j, key);
	json_object(j);
	json_key_u64(j, "functions", l->n);
	json_key_u64(j, "samples", l->samples);
	json_object_end(j);
}

static void put_total(const struct stalls_view *v, struct json *j, const char *run,
		      const struct stalls_growth *growth)
{
	static const char *const kinds[] = { [STALLS_ALL] = "all",
					     [STALLS_OF_IMAGE] = "image",
					     [STALLS_OF_FUNCTION] = "function" };

	json_object(j);
	if (v->kind == STALLS_OF_FUNCTION)
		report_json_function(j, v->r, v->rows.at[0].function);
	else
		json_key_str(j, "name", v->name);
	json_key_str(j, "kind", kinds[v->kind]);
	if (run)
		json_key_str(j, "run", run);
	json_key_u64(j, "functions", v->rows.n);
	json_key_u64(j, "all_samples", v->all_samples);
	if (v->model)
		json_key_str(j, "model", v->model->name);
	if (v->is_nearest_model)
		json_key_bool(j, "is_nearest_model", true);
	if (v->clock_ghz > 0)
		json_key_double(j, "clock_ghz", v->clock_ghz);
	if (v->how.is_estimated)
		json_key_str(j, "confidence", frequency_confidence_text(v->how.least));
	if (v->how.n_windows)
		json_key_u64(j, "windows", v->how.n_windows);
	put_left(j, "without_code", &v->without_code);
	put_left(j, "not_counted", &v->uncounted);
	put_left(j, "not_in_time", &v->late);
	put_sum(j, &v->total, &v->lines);
	if (growth)
		stalls_growth_json(growth, v, j);
	json_object_end(j);
}

void stalls_json_print(const struct stalls_view *v, struct json *j)
{
	put_total(v, j, NULL, NULL);
	if (v->kind == STALLS_OF_FUNCTION)
		return;
	for (size_t i = 0; i < stalls_view_shown(v, v->rows.n); i++) {
		json_object(j);
		report_json_function(j, v->r, v->rows.at[i].function);
		json_key_str(j, "kind", "function");
		put_sum(j, &v->rows.at[i].sum, &v->rows.at[i].lines);
		json_object_end(j);
	}
}

void stalls_json_print_places(const struct stalls_view *v, struct json *j)
{
	for (size_t i = 0; i < stalls_view_shown(v, v->places.n); i++) {
		const struct stall_place *x = &v->places.at[i];

		json_object(j);
		report_json_function(j, v->r, x->function);
		json_key_u64(j, "address", x->address);
		json_key_bool(j, "is_on_the_way", x->is_arrival);
		json_key_double(j, "times", x->times);
		json_key_double(j, "cycles", x->cycles);
		if (x->cycles_low < x->cycles_high) {
			json_key_double(j, "cycles_low", x->cycles_low);
			json_key_double(j, "cycles_high", x->cycles_high);
		}
		stall_words_json(x, j);
		json_object_end(j);
	}
}

void stalls_json_print_two(const struct stalls_view *v, const struct stalls_view *other,
			   const struct stalls_growth *growth, struct json *j)
{
	put_total(v, j, "first", NULL);
	put_total(other, j, "second", growth);
}
