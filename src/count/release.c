/* SPDX-License-Identifier: Apache-2.0 */
#include "count/release.h"

#include <stdbool.h>
#include <string.h>

#include "bare/sys.h"
#include "count/code_change.h"
#include "count/code_unit.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/engine.h"
#include "count/memory_limit.h"
#include "count/place.h"
#include "count/roll.h"
#include "count/signals.h"
#include "count/takeover.h"
#include "count/translate.h"

extern const char crossing_in_checked[], crossing_in_end[];

/* In the hands of the recorder; back if there is none. */
static void park(struct context *c, enum count_control_park how)
{
	__atomic_store_n(&c->leave.parked, how, __ATOMIC_RELEASE);
	sys_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
	c->leave.parked = 0;
}

static bool is_finisher(const struct context *c)
{
	return __atomic_load_n(&engine.finisher, __ATOMIC_ACQUIRE) == (uint64_t)c;
}

/* All is the engine's. */
static void tell_finished(void)
{
	__atomic_store_n(&engine.finisher, 0, __ATOMIC_RELEASE);
}

/* Until then handlers may be the program's, which nobody is to have while the engine's
 * stack is where they would be called. */
static void wait_for_handlers(void)
{
	while (__atomic_load_n(&engine.finisher, __ATOMIC_ACQUIRE))
		sys_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

/* As one that begins here. */
static const void *come_back(const struct context *c, uint64_t addr)
{
	const void *code;

	spin_lock(&engine.lock);
	count_output_add_extra(COUNT_EXTRA_ENTER, addr, 0, c->nest, 1);
	code = translate(place_at(c->nest, addr));
	spin_unlock(&engine.lock);
	return code;
}

static bool find_place(struct context *c, struct roll_state *s, struct roll_place *ret)
{
	bool is_there;

	spin_lock(&engine.lock);
	is_there = roll_on(c, s, ret);
	if (is_there)
		count_output_add_extra(COUNT_EXTRA_LEAVE, ret->addr, ret->block, c->nest,
				       1);
	spin_unlock(&engine.lock);
	return is_there;
}

/* It is the engine's thread again. */
static void take_mask(struct context *c)
{
	uint64_t mask = signal_mask_take(c, c->leave.mask);

	sys_signal_mask(SIG_SETMASK, &mask, NULL);
}

static const void *leave(struct context *c, struct roll_state *s)
{
	struct count_control_leave *l = &c->leave;
	struct roll_place at = { (uint64_t)s->code, 0 };
	/* What was left to the CPU is native already. */
	bool is_translated = code_unit_of((uint64_t)s->code);
	bool is_there = !is_translated || find_place(c, s, &at);

	memcpy(l->native.regs, s->regs, sizeof(s->regs));
	l->native.flags = s->flags;
	l->native.gs_base = c->gs_base;
	l->native.ip = is_there ? at.addr : (uint64_t)s->code;
	signals_tell_stack(c, l->stack);
	l->mask = signal_mask_tell(c, l->mask);
	park(c, is_there ? COUNT_PARK_AWAY : COUNT_PARK_NOT_YET);
	l->has_mask = 0;

	memcpy(c->regs, s->regs, sizeof(s->regs));
	c->flags = s->flags;
	c->is_held &= ~(uint64_t)COUNT_CONTROL_HELD_LEAVE;
	if (is_finisher(c)) /* which has not begun */
		tell_finished();
	wait_for_handlers();
	take_mask(c);
	if (!is_there || !is_translated)
		return s->code;
	return come_back(c, at.addr);
}

const void *release_at_rest(struct context *c)
{
	struct roll_state s = { .flags = c->flags, .code = (const uint8_t *)c->resume };
	uint64_t mask;

	sys_signal_mask(SIG_SETMASK, &(uint64_t){ ~0ULL }, &mask);
	if (!c->leave.has_mask)
		c->leave.mask = mask;
	c->leave.has_mask = 0;
	if (c->is_held & COUNT_CONTROL_HELD_SIGNAL) { /* it comes first */
		sys_signal_mask(SIG_SETMASK, &c->leave.mask, NULL);
		return s.code;
	}
	memcpy(s.regs, c->regs, sizeof(s.regs));
	return leave(c, &s);
}

const void *release_interrupted(struct context *c)
{
	const struct count_control_regs *r = &c->leave.native;
	struct roll_state s = { .flags = r->flags, .code = (const uint8_t *)r->ip };

	memcpy(s.regs, r->regs, sizeof(s.regs));
	if (r->ip >= (uint64_t)crossing_in_checked && r->ip < (uint64_t)crossing_in_end) {
		memcpy(s.regs, c->regs, sizeof(s.regs));
		s.flags = c->flags;
		s.code = (const uint8_t *)c->resume;
	}
	return leave(c, &s);
}

static const void *stay(struct context *c)
{
	const struct count_control_regs *r = &c->leave.native;

	if (is_finisher(c)) {
		memory_limit_take_again();
		signals_install(c);
		tell_finished();
	}
	wait_for_handlers();
	memcpy(c->regs, r->regs, sizeof(c->regs));
	c->flags = r->flags;
	c->is_held &= ~(uint64_t)COUNT_CONTROL_HELD_LEAVE;
	take_mask(c);
	return come_back(c, r->ip);
}

static void undo(const struct context *c)
{
	signals_give_back(c);
	memory_limit_give_back();
	code_change_allow_all();
}

static void give_stack(const struct context *c)
{
	sys_call(SYS_sigaltstack, c->leave.stack, 0, 0, 0, 0, 0);
}

const void *release_finish(struct context *c)
{
	undo(c);
	park(c, COUNT_PARK_DONE);
	return stay(c);
}

const void *release_aside(struct context *c)
{
	give_stack(c);
	park(c, COUNT_PARK_STACK);
	if (__atomic_load_n(&engine.are_away, __ATOMIC_ACQUIRE))
		takeover_undo(&c->leave.native, c->leave.mask);
	signals_have_stack(c);
	return stay(c);
}

void release_last(const struct context *c)
{
	undo(c);
	give_stack(c);
}
