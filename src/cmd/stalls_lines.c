/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/stalls_lines.h"

#include <math.h>

static void state(struct stalls_line *to, const char *text, enum stalls_part part,
		  double cycles)
{
	*to = (struct stalls_line){ .text = text,
				    .part = (uint8_t)part,
				    .is_range = part == STALLS_CAUSE,
				    .mean = cycles,
				    .low = cycles,
				    .high = cycles };
}

static void state_all(struct stalls_line *to, const struct stall_sum *s)
{
	state(&to[STALLS_DYNAMIC], "dynamic stalls", STALLS_SUBTOTAL,
	      stall_sum_dynamic(s));
	for (unsigned i = 0; i < STALL_N_CAUSES; i++) {
		state(&to[STALLS_CAUSES + i], stall_cause_text(i), STALLS_CAUSE, 0);
		to[STALLS_CAUSES + i].low = s->low[i];
		to[STALLS_CAUSES + i].high = s->high[i];
	}
	state(&to[STALLS_UNEXPLAINED], "unexplained stall", STALLS_PART, s->unexplained);
	state(&to[STALLS_GAIN], "unexplained gain", STALLS_PART, s->gain);
	state(&to[STALLS_STATIC], "static stalls", STALLS_SUBTOTAL, stall_sum_static(s));
	for (unsigned i = 0; i < SCHEDULE_N_WAITS; i++)
		state(&to[STALLS_WAITS + i], schedule_wait_text(i), STALLS_PART,
		      s->waits[i]);
	state(&to[STALLS_EXECUTION], "execution", STALLS_SUBTOTAL, s->execution);
	state(&to[STALLS_ERROR], "sampling error", STALLS_SUBTOTAL, s->error);
}

static void widen(struct stalls_line *to, double low, double high)
{
	to->low = fmin(to->low, low);
	to->high = fmax(to->high, high);
}

void stalls_lines_make(struct stalls_lines *ret, const struct stall_sum *sum,
		       const struct stall_scales *scales)
{
	struct stalls_line other[STALLS_N_LINES];

	ret->is_estimated = scales;
	state_all(ret->at, sum);
	for (unsigned i = 0; scales && i < STALLS_N_LINES; i++)
		ret->at[i].is_range = true;
	for (unsigned k = 0; scales && k < STALL_SCALES_MANY; k++) {
		state_all(other, &scales->at[k]);
		for (unsigned i = 0; i < STALLS_N_LINES; i++)
			widen(&ret->at[i], other[i].low, other[i].high);
	}
	for (unsigned i = 0; scales && i < STALL_N_CAUSES; i++)
		widen(&ret->at[STALLS_CAUSES + i], scales->low[i], scales->high[i]);
}
