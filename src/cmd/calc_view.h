/* SPDX-License-Identifier: Apache-2.0
 *
 * calc_view - what is known of one function's instructions, as text and as JSON.
 */
#ifndef DWELL_CMD_CALC_VIEW_H
#define DWELL_CMD_CALC_VIEW_H

#include <stdio.h>

#include "analyze/function_code.h"
#include "analyze/stall.h"
#include "base/json.h"
#include "cmd/code_text.h"
#include "cmd/report_profile.h"

struct calc_view {
	const struct report *r;
	uint32_t function;
	struct function_code code;
	struct code_text text;
	struct stalls stalls;
	struct sym_line_row *lines;
	size_t n_lines;
	bool all; /* also blocks that have next to nothing */
	bool is_intel;
};

struct calc_view_totals {
	double instructions, low, high;
	double ideal; /* cycles */
};

/* As the options say: --model, --clock, --all, --intel. */
must_use int calc_view_init(struct calc_view *ret, const struct report *r,
			    uint32_t function, const struct options *o, struct err *e);
void calc_view_fini(struct calc_view *v);

/* A step's instruction as text. */
struct disasm_instruction calc_view_instruction(const struct calc_view *v, uint32_t step);
/* Cycles each time; negative: not known. */
double calc_view_each(double cycles, double times);
/* The row of the line that an address is from, or NULL. */
const struct sym_line_row *calc_view_line(const struct calc_view *v, uint64_t address);
/* Instructions executed, between which numbers, and what they take at best, all times
 * together; false: not known. */
bool calc_view_totals(const struct calc_view *v, struct calc_view_totals *ret);

void calc_text_print(const struct calc_view *v, FILE *out);
void calc_json_print(const struct calc_view *v, struct json *j);

#endif
