/* SPDX-License-Identifier: Apache-2.0 */
#include "count/single_step.h"

#include <signal.h>
#include <stddef.h>

#include "count/code_unit.h"
#include "count/context.h"
#include "count/roll.h"
#include "count/signal_frame.h"

#define STEP_FLAG 0x100u
#define STEPPED	  2 /* why SIGTRAP is sent; not every libc has it (TRAP_TRACE) */

/* Nothing of the program's is there. */
static const uint8_t engine_place[1];

bool single_step_is(const struct signal_info *info)
{
	return info->signal == SIGTRAP && info->code == STEPPED;
}

void single_step_pass(struct context *c)
{
	c->step.from = engine_place;
}

/* One of the CPU's instructions was executed, behind the program's that set the flag. */
static bool has_ended_first(struct context *c, const uint8_t *code)
{
	const uint8_t *begin = roll_begin(c, code);

	return begin ? begin == code : !roll_has_left(code);
}

static bool has_ended(struct context *c, const uint8_t *from, const uint8_t *code)
{
	const uint8_t *begin = roll_begin(c, from);

	/* Where it came back to itself it was executed. */
	return begin && (code <= from || roll_begin(c, code) != begin);
}

bool single_step_ends(struct context *c, const uint8_t *code)
{
	struct single_step *s = &c->step;
	const uint8_t *from = s->from;

	s->from = code;
	if (!s->is_due)
		s->is_due = !code_unit_of((uint64_t)code) ||
			    (from ? has_ended(c, from, code) : has_ended_first(c, code));
	return s->is_due;
}

void single_step_told(struct context *c)
{
	c->step = (struct single_step){ 0 };
}

void single_step_resume(struct context *c, uint64_t flags, const uint8_t *code)
{
	c->step.from = flags & STEP_FLAG ? code : NULL;
}
