/* SPDX-License-Identifier: Apache-2.0 */
#include "count/turnover.h"

#include <signal.h>
#include <string.h>

#include "bare/sys.h"
#include "count/code_change.h"
#include "count/code_unit.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/engine.h"
#include "count/exec_range.h"
#include "count/indirect.h"
#include "count/link.h"
#include "count/nest.h"
#include "count/place.h"
#include "count/program_memory.h"
#include "count/roll.h"
#include "count/signal_frame.h"
#include "count/translate.h"

/* One of those that the engine hears in any case, as no kernel sends it. */
#define CALL	   SIGILL
#define CALL_ERROR 0x6477 /* in the place of an errno */

/* Together the 100 ms that the program stands still at most. */
#define TRIES	    400
#define TRY_NS	    250000
#define TRIES_STALE 40000 /* once: what is wrong is executed otherwise */
#define TRIES_APART 20000 /* entries of the engine, after one in vain */

static unsigned n_entries_to_wait;
static bool was_in_vain; /* the long wait, once for all that is stale now */

static bool can_go_on(void)
{
	return !engine.was_lax && !engine.is_stale &&
	       count_output_has_room(engine.turns_soon) && code_unit_has_room() &&
	       indirect_has_room() && link_has_room() && place_has_room();
}

bool turnover_is_due(void)
{
	if (engine.is_turning)
		return true;
	if (n_entries_to_wait) {
		n_entries_to_wait--;
		return false;
	}
	return !can_go_on();
}

bool turnover_is_call(const struct signal_info *info)
{
	return info->signal == CALL && info->code == SI_QUEUE &&
	       info->error == CALL_ERROR;
}

static void call(const struct context *x)
{
	const struct signal_info info = { .signal = CALL,
					  .error = CALL_ERROR,
					  .code = SI_QUEUE };

	if (!program_memory_is_believed())
		sys_call(SYS_rt_tgsigqueueinfo, sys_getpid(), x->tid, CALL, &info, 0, 0);
}

/* Of the others: who may have counters and translated code in use. */
static bool are_at_rest(const struct context *c, bool calls)
{
	bool are = true;

	for (struct context *x = context_newest(); x; x = x->older) {
		if (x == c || x->is_free || x->is_away || x->call)
			continue;
		are = false;
		if (calls)
			call(x);
	}
	return are;
}

bool turnover_all_rest(void)
{
	return are_at_rest(NULL, false);
}

void turnover_ask(void)
{
	engine.is_stale = true;
	if (!was_in_vain)
		n_entries_to_wait = 0;
}

/* Others go on with what they are at. */
static void let_others(void)
{
	const struct timespec t = { .tv_nsec = TRY_NS };

	spin_unlock(&engine.lock);
	sys_call(SYS_nanosleep, &t, 0, 0, 0, 0, 0);
	spin_lock(&engine.lock);
}

/* Who does not come in the long time may never come, and all others stand still. */
static bool wait_for_others(const struct context *c)
{
	bool is_long = engine.is_stale && !was_in_vain;
	unsigned i = 0, n = is_long ? TRIES_STALE : TRIES;

	for (; i < n && !are_at_rest(c, i % 16 == 1); i++)
		let_others();
	was_in_vain |= is_long && i == n;
	return i < n;
}

static void tell_images(uint32_t (*tell)(uint32_t image))
{
	nest_rename(tell);
	exec_range_rename(tell);
}

static void forget(void)
{
	count_output_turn(tell_images);
	code_change_clear();
	place_clear();
	link_clear();
	code_unit_clear();
	forest_clear(&engine.forest);
	indirect_clear();
	for (struct context *x = context_newest(); x; x = x->older)
		signals_forget_returns(x);
	engine.was_lax = engine.is_stale = was_in_vain = false;
	engine.epoch++;
}

static void turn(struct context *c)
{
	engine.is_turning = true;
	if (wait_for_others(c))
		forget();
	if (!can_go_on())
		n_entries_to_wait = TRIES_APART;
	engine.is_turning = false;
}

static void stay_away(struct context *c)
{
	c->is_away = true;
	while (engine.is_turning)
		let_others();
	c->is_away = false;
}

void turnover_rest(struct context *c, struct roll_state *s)
{
	struct roll_place at = { (uint64_t)s->code, 0 };
	bool is_translated = code_unit_of((uint64_t)s->code);

	if (is_translated && !roll_on(c, s, &at))
		return; /* to the engine, next */
	if (is_translated)
		count_output_add_extra(COUNT_EXTRA_LEAVE, at.addr, at.block, c->nest, 1);
	if (engine.is_turning)
		stay_away(c);
	else
		turn(c);
	if (!is_translated) {
		c->epoch = engine.epoch;
	} else if (turnover_was(c)) {
		count_output_add_extra(COUNT_EXTRA_ENTER, at.addr, 0, c->nest, 1);
		s->code = translate(place_at(c->nest, at.addr));
	} else {
		count_output_add_extra(COUNT_EXTRA_LEAVE, at.addr, at.block, c->nest, -1);
	}
}

bool turnover_was(struct context *c)
{
	bool was = c->epoch != engine.epoch;

	c->epoch = engine.epoch;
	return was;
}

const void *turnover_before(struct context *c, const void *code)
{
	struct roll_state s = { .flags = c->flags, .code = code };

	memcpy(s.regs, c->regs, sizeof(s.regs));
	turnover_rest(c, &s);
	memcpy(c->regs, s.regs, sizeof(s.regs));
	c->flags = s.flags;
	return s.code;
}
