/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/names.h"
#include "cmd/calc_access.h"
#include "cmd/calc_view.h"
#include "cmd/report_json.h"
#include "insn/machine_model.h"

static const char *const ends[] = {
	[PROCEDURE_END_ON] = "on",
	[PROCEDURE_END_BRANCH] = "branch",
	[PROCEDURE_END_JUMP] = "jump",
	[PROCEDURE_END_INDIRECT] = "jump *",
	[PROCEDURE_END_TAIL_CALL] = "tail call",
	[PROCEDURE_END_RETURN] = "return",
	[PROCEDURE_END_STOP] = "stop",
	[PROCEDURE_END_LOST] = "lost",
};

static const char *const ways[] = {
	[PROCEDURE_WAY_ON] = "on",	 [PROCEDURE_WAY_TAKEN] = "taken",
	[PROCEDURE_WAY_TABLE] = "table", [PROCEDURE_WAY_LEAVE] = "leave",
	[PROCEDURE_WAY_ENTRY] = "entry",
};

/* What is not known is not there. */
static void put_known(struct json *j, const char *key, double value)
{
	if (value >= 0)
		json_key_double(j, key, value);
}

/* A range, where it was not counted. */
static void put_times(const struct calc_view *v, struct json *j, double times, double low,
		      double high, uint8_t confidence)
{
	put_known(j, "times", times);
	if (times < 0 || !v->code.is_estimated)
		return;
	json_key_double(j, "times_low", low);
	json_key_double(j, "times_high", high);
	json_key_str(j, "confidence", frequency_confidence_text(confidence));
}

static void put_ways(const struct calc_view *v, struct json *j, uint32_t block)
{
	const struct procedure *p = v->code.procedure;
	const struct procedure_block *b = &p->blocks[block];
	const struct function_code_way *w = v->code.ways;

	json_key(j, "ways");
	json_array(j);
	for (uint32_t i = b->first_out; i < b->first_out + b->n_out; i++) {
		json_object(j);
		json_key_str(j, "kind", ways[p->ways[i].kind]);
		if (p->ways[i].to != PROCEDURE_OUTSIDE)
			json_key_u64(j, "to", p->ways[i].to);
		put_times(v, j, w[i].times, w[i].times_low, w[i].times_high,
			  w[i].confidence);
		json_key_u64(j, "seen", w[i].told);
		if (w[i].missed + w[i].foreseen) {
			json_key_u64(j, "missed", w[i].missed);
			json_key_u64(j, "foreseen", w[i].foreseen);
		}
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
		put_known(j, "most_cycles_each", x->most);
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
		uint64_t address = c->procedure->steps[i].address;
		const struct sym_line_row *line = calc_view_line(v, address);
		struct disasm_instruction in = calc_view_instruction(v, i);

		json_object(j);
		json_key_u64(j, "address", address);
		json_key_str(j, "mnemonic", in.mnemonic);
		json_key_str(j, "operands", in.operands);
		json_key_u64(j, "samples", c->steps[i].samples);
		json_key_double(j, "cycles", c->steps[i].cycles);
		put_known(j, "times", c->steps[i].times);
		put_known(j, "ideal_cycles_each", c->steps[i].ideal);
		put_waits(c, j, i);
		put_misses(c, j, i);
		put_access(c, j, i);
		put_stall(v, j, "stall", &v->stalls.of_step[i]);
		if (line && line->file) {
			json_key_str(j, "file", line->file);
			json_key_u64(j, "line", line->line);
		}
		json_object_end(j);
	}
	json_array_end(j);
}

static void put_block(const struct calc_view *v, struct json *j, uint32_t block)
{
	const struct procedure_block *p = &v->code.procedure->blocks[block];
	const struct function_code_block *b = &v->code.blocks[block];

	json_object(j);
	json_key_u64(j, "start", p->start);
	json_key_u64(j, "end", p->end);
	json_key_str(j, "ends_in", ends[p->end_kind]);
	json_key_u64(j, "samples", b->samples);
	json_key_double(j, "cycles", b->cycles);
	json_key_double(j, "arrival_cycles", b->arrival);
	put_times(v, j, b->times, b->times_low, b->times_high, b->confidence);
	put_known(j, "ideal_cycles_each", b->ideal);
	put_stall(v, j, "arrival_stall", &v->stalls.of_arrival[block]);
	json_key_u64(j, "not_seen", b->untold);
	json_key_bool(j, "has_unknown_ways_in", p->has_unknown_ways_in);
	json_key_bool(j, "has_unknown_ways_out", p->has_unknown_ways_out);
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
	report_json_function(j, v->r, v->function);
	json_key_u64(j, "samples", c->samples);
	json_key_double(j, "cycles", c->cycles);
	if (c->clock_ghz > 0)
		json_key_double(j, "clock_ghz", c->clock_ghz);
	if (c->model)
		json_key_str(j, "model", c->model->name);
	if (c->is_nearest_model)
		json_key_bool(j, "is_nearest_model", true);
	if (c->is_estimated)
		json_key_bool(j, "is_estimated", true);
	if (c->retired_high > 0)
		json_key_double(j, "retired_samples", c->retired_samples);
	if (c->n_windows)
		json_key_u64(j, "windows", c->n_windows);
	put_events(&c->misses, j);
	put_times(v, j, c->times, c->times_low, c->times_high, c->times_confidence);
	json_key(j, "blocks");
	json_array(j);
	for (uint32_t i = 0; i < c->procedure->n_blocks; i++)
		put_block(v, j, i);
	json_array_end(j);
	json_object_end(j);
}
