/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/calc_view.h"

#include <stdlib.h>

#include "base/search.h"

int calc_view_init(struct calc_view *ret, const struct report *r, uint32_t function,
		   const struct options *o, struct err *e)
{
	const struct profile_function *f = profile_function(r->profile, function);
	struct function_code_options options = { .model = options_str(o, "model") };
	int rc = report_profile_clock(o, &options.clock_ghz, e);

	*ret = (struct calc_view){ .r = r,
				   .function = function,
				   .all = options_has(o, "all"),
				   .is_intel = options_has(o, "intel") };
	if (rc == 0)
		rc = function_code_make(&ret->code, r->profile, function, &options, e);
	if (rc == 0)
		rc = code_text_init(&ret->text, r->profile, function, ret->is_intel, e);
	ret->text.leaves_own_name_out = true;
	if (rc < 0)
		return rc;
	ret->text.delta = ret->code.delta;
	ret->text.has_delta = ret->code.has_delta;
	stall_find(&ret->stalls, &ret->code);
	if (symbolizer_lines(profile_symbolizer(r->profile), f->sym_image, f->start,
			     f->size, &ret->lines, &ret->n_lines, NULL) < 0)
		ret->n_lines = 0;
	return 0;
}

void calc_view_fini(struct calc_view *v)
{
	stall_fini(&v->stalls);
	code_text_fini(&v->text);
	function_code_fini(&v->code);
	free(v->lines);
	v->lines = NULL;
}

struct disasm_instruction calc_view_instruction(const struct calc_view *v, uint32_t step)
{
	const struct buf *code = &v->code.code;
	uint64_t address = v->code.procedure->steps[step].address;
	size_t at = address - v->text.function->start;
	struct disasm_instruction ret = { 0 };

	disasm_decode(v->text.disasm, code->data + at, code->size - at, address, &ret);
	return ret;
}

double calc_view_each(double cycles, double times)
{
	return times > 0 ? cycles / times : -1;
}

const struct sym_line_row *calc_view_line(const struct calc_view *v, uint64_t address)
{
	size_t low = search_split(v->n_lines, i, v->lines[i].end <= address);

	return low < v->n_lines && v->lines[low].address <= address ? &v->lines[low]
								    : NULL;
}

bool calc_view_totals(const struct calc_view *v, struct calc_view_totals *ret)
{
	const struct function_code *c = &v->code;

	*ret = (struct calc_view_totals){ 0 };
	for (uint32_t i = 0; i < c->procedure->n_blocks; i++) {
		const struct function_code_block *b = &c->blocks[i];
		uint32_t n = c->procedure->blocks[i].n_steps;

		if (b->times < 0 || b->ideal < 0)
			return false;
		ret->ideal += b->times * b->ideal;
		ret->low += b->times_low * n;
		ret->high += b->times_high * n;
	}
	for (uint32_t i = 0; i < c->procedure->n_steps; i++)
		ret->instructions += c->steps[i].times;
	if (c->is_estimated && c->retired_high > 0) {
		ret->low = c->retired_low;
		ret->high = c->retired_high;
	}
	return ret->instructions > 0;
}
