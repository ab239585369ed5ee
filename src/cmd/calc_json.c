/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/names.h"
#include "cmd/calc_access.h"
#include "cmd/calc_view.h"
#include "cmd/code_json.h"
#include "cmd/report_json.h"

static void put_ways(const struct calc_view *v, struct json *j, uint32_t block)
{
	const struct procedure *p = v->code.procedure;
	const struct procedure_block *b = &p->blocks[block];

	json_key(j, "ways");
	json_array(j);
	for (uint32_t i = b->first_out; i < b->first_out + b->n_out; i++) {
		json_object(j);
		if (p->ways[i].to != PROCEDURE_OUTSIDE)
			json_key_u64(j, "to", p->ways[i].to);
		code_json_way(v, j, i);
		json_object_end(j);
	}
	json_array_end(j);
}

/* Without one there is nothing. */
static void put_stall(const struct calc_view *v, struct json *j, const char *key,
		      const struct stall *s)
{
	if (s->cycles <= 0)
		return;
	json_key(j, key);
	json_object(j);
	json_key_double(j, "cycles_each", s->cycles);
	if (s->low < s->high) {
		json_key_double(j, "cycles_each_low", s->low);
		json_key_double(j, "cycles_each_high", s->high);
	}
	json_key_double(j, "unexplained_cycles_each", s->unexplained);
	json_key(j, "culprits");
	json_array(j);
	for (unsigned i = 0; i < s->n; i++) {
		const struct stall_culprit *x = &s->culprits[i];

		json_object(j);
		json_key_str(j, "cause", stall_cause_text(x->cause));
		if (x->blamed != PROCEDURE_OUTSIDE)
			json_key_u64(j, "blamed",
				     v->code.procedure->steps[x->blamed].address);
		code_json_known(j, "most_cycles_each", x->most);
		if (x->event)
			json_key_str(j, "event", x->event);
		json_object_end(j);
	}
	json_array_end(j);
	json_object_end(j);
}

/* What landed on an instruction of each event of misses. */
static void put_misses(const struct function_code *c, struct json *j, uint32_t step)
{
	if (!c->misses.n)
		return;
	json_key(j, "miss_samples");
	json_object(j);
	for (unsigned i = 0; i < c->misses.n; i++)
		json_key_double(j, c->misses.events[i].column,
				c->misses.events[i].of_step[step]);
	json_object_end(j);
}

/* Which memory it accessed after samples. */
static void put_access(const struct function_code *c, struct json *j, uint32_t step)
{
	const struct access_place *a = access_places_of(&c->accesses, step);

	if (!a)
		return;
	json_key(j, "accesses");
	calc_access_json(a, j);
}

/* Why it takes so long at best. */
static void put_waits(const struct function_code *c, struct json *j, uint32_t step)
{
	const struct function_code_step *s = &c->steps[step];
	bool is_open = false;

	for (unsigned w = 0; w < SCHEDULE_N_WAITS; w++) {
		if (s->ideal < 0 || s->waits[w] <= 0)
			continue;
		if (!is_open) {
			json_key(j, "ideal_waits");
			json_object(j);
			is_open = true;
		}
		json_key_double(j, schedule_wait_text(w), s->waits[w]);
	}
	if (!is_open)
		return;
	json_object_end(j);
	if (s->waits_for != PATH_COST_NONE)
		json_key_u64(j, "ideal_waits_for",
			     c->procedure->steps[s->waits_for].address);
}

static void put_steps(const struct calc_view *v, struct json *j, uint32_t block)
{
	const struct function_code *c = &v->code;
	const struct procedure_block *b = &c->procedure->blocks[block];

	json_key(j, "instructions");
	json_array(j);
	for (uint32_t i = b->first_step; i < b->first_step + b->n_steps; i++) {
		json_object(j);
		code_json_instruction(v, j, i);
		put_waits(c, j, i);
		put_misses(c, j, i);
		put_access(c, j, i);
		put_stall(v, j, "stall", &v->stalls.of_step[i]);
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_block(const struct calc_view *v, struct json *j, uint32_t block)
{
	json_object(j);
	code_json_block(v, j, block);
	put_stall(v, j, "arrival_stall", &v->stalls.of_arrival[block]);
	put_ways(v, j, block);
	put_steps(v, j, block);
	json_object_end(j);
}

static void put_events(const struct miss_samples *m, struct json *j)
{
	if (!m->n)
		return;
	json_key(j, "miss_events");
	json_array(j);
	for (unsigned i = 0; i < m->n; i++) {
		const struct miss_samples_event *e = &m->events[i];

		json_object(j);
		json_key_str(j, "event", e->column);
		json_key_str(j, "cause", stall_cause_text(e->name->cause));
		json_key_double(j, "samples", e->here);
		json_key_double(j, "all_samples", e->all);
		json_key_double(j, "events_each", e->each);
		json_object_end(j);
	}
	json_array_end(j);
}

void calc_json_print(const struct calc_view *v, struct json *j)
{
	const struct function_code *c = &v->code;

	json_object(j);
	code_json_function(v, j);
	put_events(&c->misses, j);
	json_key(j, "blocks");
	json_array(j);
	for (uint32_t i = 0; i < c->procedure->n_blocks; i++)
		put_block(v, j, i);
	json_array_end(j);
	json_object_end(j);
}
