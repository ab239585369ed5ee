/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/power_steps.h"
#include "cmd/report_json.h"
#include "cmd/rows_view.h"

/* [{"from": least, "calls": n}, …] of those that have any. */
static void put_steps(struct json *j, const struct rows_view *v,
		      const struct power_steps *s)
{
	json_array(j);
	for (unsigned i = 0; i < POWER_STEPS; i++) {
		if (!s->n[i])
			continue;
		json_object(j);
		json_key_u64(j, "from", power_steps_least(i));
		json_key_u64(j, v->kind->counted, s->n[i]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_word(struct json *j, const struct rows_view *v,
		     const struct rows_column *c, const void *row)
{
	struct rows_word word = { 0 };

	c->word(v, row, &word);
	json_str(j, buf_str(&word.text));
	buf_fini(&word.text);
}

static void put_column(struct json *j, const struct rows_view *v,
		       const struct rows_column *c, const void *row)
{
	if (c->json)
		c->json(v, row, j);
	if (!c->key)
		return;
	json_key(j, c->key);
	if (c->is_steps)
		put_steps(j, v, (const void *)((const char *)row + c->at));
	else if (c->word)
		put_word(j, v, c, row);
	else
		json_u64(j, rows_view_number(v, c, row));
}

/* What it is, and then what it has. */
static void put_row(struct json *j, const struct rows_view *v, const void *row)
{
	json_object(j);
	for (const struct rows_column *c = v->kind->columns; !rows_view_is_end(c); c++)
		if (c->is_name)
			put_column(j, v, c, row);
	for (const struct rows_column *c = v->kind->columns; !rows_view_is_end(c); c++)
		if (!c->is_name)
			put_column(j, v, c, row);
	json_object_end(j);
}

void rows_json_print(const struct rows_view *v, FILE *out)
{
	struct json j;

	report_json_begin_with(&j, &v->report, v->kind->name,
			       v->kind->totals ? v->kind->totals(v) : NULL, out);
	vec_each(p, &v->parts)
		for (size_t i = 0; i < rows_view_shown(v, p); i++)
			put_row(&j, v, rows_view_row(v, p->first + i));
	if (v->kind->json_behind)
		v->kind->json_behind(v, &j);
	report_json_end(&j, &v->report);
}
