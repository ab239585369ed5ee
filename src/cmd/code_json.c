/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/code_json.h"

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

void code_json_known(struct json *j, const char *key, double value)
{
	if (value >= 0)
		json_key_double(j, key, value);
}

/* A range, where it was not counted. */
static void put_times(const struct calc_view *v, struct json *j, double times, double low,
		      double high, uint8_t confidence)
{
	code_json_known(j, "times", times);
	if (times < 0 || !v->code.is_estimated)
		return;
	json_key_double(j, "times_low", low);
	json_key_double(j, "times_high", high);
	json_key_str(j, "confidence", frequency_confidence_text(confidence));
}

void code_json_function(const struct calc_view *v, struct json *j)
{
	const struct function_code *c = &v->code;
	const struct profile_function *f = profile_function(v->r->profile, v->function);

	report_json_function(j, v->r, v->function);
	json_key_u64(j, "start", f->start);
	json_key_u64(j, "end", f->start + f->size);
	json_key_u64(j, "samples", c->samples);
	json_key_double(j, "cycles", c->cycles);
	if (c->all_cycles > 0)
		json_key_double(j, "cycles_share", c->cycles / c->all_cycles);
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
	put_times(v, j, c->times, c->times_low, c->times_high, c->times_confidence);
}

void code_json_block(const struct calc_view *v, struct json *j, uint32_t block)
{
	const struct procedure_block *p = &v->code.procedure->blocks[block];
	const struct function_code_block *b = &v->code.blocks[block];

	json_key_u64(j, "start", p->start);
	json_key_u64(j, "end", p->end);
	json_key_str(j, "ends_in", ends[p->end_kind]);
	json_key_u64(j, "samples", b->samples);
	json_key_double(j, "cycles", b->cycles);
	json_key_double(j, "arrival_cycles", b->arrival);
	put_times(v, j, b->times, b->times_low, b->times_high, b->confidence);
	code_json_known(j, "ideal_cycles_each", b->ideal);
	json_key_u64(j, "not_seen", b->untold);
	json_key_bool(j, "has_unknown_ways_in", p->has_unknown_ways_in);
	json_key_bool(j, "has_unknown_ways_out", p->has_unknown_ways_out);
}

void code_json_way(const struct calc_view *v, struct json *j, uint32_t way)
{
	const struct function_code_way *w = &v->code.ways[way];

	json_key_str(j, "kind", ways[v->code.procedure->ways[way].kind]);
	put_times(v, j, w->times, w->times_low, w->times_high, w->confidence);
	json_key_u64(j, "seen", w->told);
	if (w->missed + w->foreseen) {
		json_key_u64(j, "missed", w->missed);
		json_key_u64(j, "foreseen", w->foreseen);
	}
}

void code_json_instruction(const struct calc_view *v, struct json *j, uint32_t step)
{
	const struct function_code_step *s = &v->code.steps[step];
	uint64_t address = v->code.procedure->steps[step].address;
	const struct sym_line_row *line = calc_view_line(v, address);
	struct disasm_instruction in = calc_view_instruction(v, step);

	json_key_u64(j, "address", address);
	json_key_str(j, "mnemonic", in.mnemonic);
	json_key_str(j, "operands", in.operands);
	json_key_u64(j, "samples", s->samples);
	json_key_double(j, "cycles", s->cycles);
	code_json_known(j, "times", s->times);
	code_json_known(j, "ideal_cycles_each", s->ideal);
	if (!line || !line->file)
		return;
	json_key_str(j, "file", line->file);
	json_key_u64(j, "line", line->line);
}
