/* SPDX-License-Identifier: Apache-2.0 */
#include "count/signal_delivery.h"

#include <errno.h>
#include <string.h>

#include "count/code_change.h"
#include "count/code_unit.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/engine.h"
#include "count/fatal.h"
#include "count/gate.h"
#include "count/link.h"
#include "count/nest.h"
#include "count/place.h"
#include "count/program_memory.h"
#include "count/roll.h"
#include "count/signal_mask.h"
#include "count/signals.h"
#include "count/single_step.h"
#include "count/translate.h"
#include "count/turnover.h"

enum { RAX = 0, RDX = 2, RSP = 4, RSI = 6, RDI = 7 };

/* Of the CPU's flags, those that no handler begins with: of steps, direction, resuming.
 */
#define NOT_A_HANDLERS (0x100u | 0x400u | 0x10000u)

/* What the CPU says of a fault of memory. */
#define ERROR_IS_WRITE 2

/* Why SIGSYS is sent; not every libc knows it. */
#define CALL_FILTERED 1

/* The engine's own code, and places in it: crossing.S. */
extern const char __ehdr_start[], _end[];
extern const char crossing_call_check[], crossing_call_not[], crossing_call_made[];
extern const char crossing_in_checked[], crossing_in_end[], crossing_int80_made[];

_Noreturn void crossing_return(const struct signal_state *s);

/* A signal that waits until the engine is done, behind the context. */
struct held {
	struct signal_frame frame;
	uint8_t pad[8];
	uint8_t xstate[CONTEXT_HELD_BYTES - sizeof(struct signal_frame) - 8];
};

_Static_assert(sizeof(struct held) == CONTEXT_HELD_BYTES &&
		       offsetof(struct held, xstate) % SIGNAL_XSTATE_ALIGN == 0,
	       "the CPU demands it");

static struct held *held_of(struct context *c)
{
	return (struct held *)((char *)c + CONTEXT_BYTES);
}

static bool is_within(uint64_t addr, const char *start, const char *end)
{
	return addr >= (uint64_t)start && addr < (uint64_t)end;
}

/* A call of the program's that a filter forbids. */
static bool is_forbidden_call(const struct signal_info *info)
{
	return info->signal == SIGSYS && info->code == CALL_FILTERED;
}

/* One of the engine's own, which then has not been made: of it nobody is to hear. */
static bool refuse_own_call(const struct signal_info *info, struct signal_state *state)
{
	if (!is_forbidden_call(info) || state->ip == (uint64_t)crossing_call_made ||
	    state->ip == (uint64_t)crossing_int80_made)
		return false;
	signal_state_set_result(state, -ENOSYS);
	return true;
}

static bool is_fault(const struct signal_info *info)
{
	static const uint64_t faults = 1ULL << SIGSEGV | 1ULL << SIGBUS | 1ULL << SIGILL |
				       1ULL << SIGFPE | 1ULL << SIGTRAP;

	return info->code > 0 && (faults >> info->signal & 1);
}

/* Nobody has sent it: what the thread does cannot go on. */
static bool is_forced(const struct signal_info *info)
{
	return is_fault(info) || is_forbidden_call(info);
}

/* All else is blocked until the engine is done. */
static void hold(struct context *c, struct signal_info *info, struct signal_state *state)
{
	struct held *h = held_of(c);
	size_t bytes = signal_xstate_bytes(state->xstate);

	if (bytes > sizeof(h->xstate))
		fatal("the registers of this CPU are too many");
	h->frame = (struct signal_frame){ .state = *state, .info = *info };
	memcpy(h->xstate, (const void *)state->xstate, bytes);
	h->frame.state.xstate = (uint64_t)h->xstate;
	c->is_held |= COUNT_CONTROL_HELD_SIGNAL;
	state->mask = signal_mask_shut(c);
	if (is_within(state->ip, crossing_call_check, crossing_call_made))
		state->ip = (uint64_t)crossing_call_not;
}

static void remember_return(struct context *c, uint64_t frame,
			    const struct roll_place *at, const uint8_t *code)
{
	struct signals *s = &c->signals;

	s->returns[s->n_returns++ % SIGNALS_DEPTH] =
		(struct signal_return){ frame, at->addr, code, at->block, c->nest };
}

/* Where the handler begins: the program's frame, and in it what the kernel told. */
static uint64_t make_frame(struct context *c, const struct sys_sigaction *a,
			   const struct roll_state *s, uint64_t addr,
			   const struct signal_info *info,
			   const struct signal_state *state)
{
	const struct signal_stack *stack = &c->signals.stack;
	size_t bytes = signal_xstate_bytes(state->xstate);
	uint64_t top = s->regs[RSP] - SIGNAL_RED_ZONE, xstate;
	struct signal_frame *f;

	if ((a->flags & SA_ONSTACK) && stack->bytes &&
	    !signals_is_on_stack(c, s->regs[RSP])) {
		top = stack->at + stack->bytes;
		nest_hide(c, stack->at, top);
	}
	xstate = (top - bytes) & -(uint64_t)SIGNAL_XSTATE_ALIGN;
	f = (struct signal_frame *)(((xstate - sizeof(*f)) & -16ULL) - 8);
	memcpy((void *)xstate, (const void *)state->xstate, bytes);
	f->restorer = (uint64_t)a->restorer;
	f->state = *state;
	f->state.stack = *stack;
	f->state.mask = f->state.old_mask = signal_mask_tell(c, state->mask);
	f->state.ip = addr;
	f->state.cpu_flags = s->flags;
	f->state.xstate = xstate;
	signal_state_put(&f->state, s->regs);
	f->info = *info;
	if (is_forbidden_call(info) || (is_fault(info) && info->addr == state->ip))
		f->info.addr = addr;
	signals_disarm_stack(c);
	return (uint64_t)f;
}

static void set_registers(struct roll_state *s, unsigned signal, uint64_t frame)
{
	s->regs[RAX] = 0;
	s->regs[RDI] = signal;
	s->regs[RSI] = frame + offsetof(struct signal_frame, info);
	s->regs[RDX] = frame + offsetof(struct signal_frame, state);
	s->regs[RSP] = frame;
	s->flags &= ~(uint64_t)NOT_A_HANDLERS;
}

/* Nobody handles it: what the kernel does then.  A fault comes again by itself. */
static void leave_to_kernel(const struct signal_info *info)
{
	struct sys_sigaction none = { 0 };

	sys_signal_action(info->signal, &none, NULL);
	if (!is_fault(info))
		sys_call(SYS_rt_tgsigqueueinfo, sys_getpid(), sys_gettid(), info->signal,
			 info, 0, 0);
}

/* The same in the program's code, which has left its block there. */
static void end_by(const struct context *c, const struct signal_info *info,
		   const struct roll_state *s, const struct roll_place *at)
{
	if (is_fault(info) && code_unit_of((uint64_t)s->code))
		count_output_add_extra(COUNT_EXTRA_LEAVE, at->addr, at->block, c->nest,
				       1);
	leave_to_kernel(info);
}

/* The lock is held.  What the kernel is to go on with instead of state. */
static void begin_handler(struct context *c, const struct sys_sigaction *a,
			  struct roll_state *s, const struct roll_place *at,
			  const struct signal_info *info, struct signal_state *state)
{
	uint64_t handler = (uint64_t)a->handler, frame;
	uint64_t mask = signal_mask_tell(c, state->mask) | a->mask;

	frame = make_frame(c, a, s, at->addr, info, state);
	if (code_unit_of((uint64_t)s->code)) {
		count_output_add_extra(COUNT_EXTRA_LEAVE, at->addr, at->block, c->nest,
				       1);
		remember_return(c, frame, at, s->code);
	}
	count_output_add_extra(COUNT_EXTRA_ENTER, handler, 0, c->nest, 1);
	set_registers(s, (unsigned)info->signal, frame);
	s->code = translate(place_at(c->nest, handler));
	if (!(a->flags & SA_NODEFER))
		mask |= 1ULL << (info->signal - 1);
	state->mask = signal_mask_take(c, mask);
	state->flags &= ~(uint64_t)SIGNAL_STATE_HAS_XSTATE;
	state->xstate = 0;
}

static void put_state(struct signal_state *state, const struct roll_state *s)
{
	signal_state_put(state, s->regs);
	state->ip = (uint64_t)s->code;
	state->cpu_flags = s->flags;
}

/* False: the engine will be entered next. */
static bool deliver(struct context *c, struct roll_state *s,
		    const struct signal_info *info, struct signal_state *state)
{
	struct roll_place at = { (uint64_t)s->code, 0 };
	struct sys_sigaction a;
	bool is_there = true;
	bool is_end = is_forced(info) && signal_mask_blocks(c, info->signal);

	spin_lock(&engine.lock);
	if (code_unit_of((uint64_t)s->code))
		is_there = roll_on(c, s, &at);
	if (is_there) {
		if (!is_end && signals_action(c, (unsigned)info->signal, &a))
			begin_handler(c, &a, s, &at, info, state);
		else if (is_forced(info) || !a.handler)
			end_by(c, info, s, &at);
	}
	spin_unlock(&engine.lock);
	put_state(state, s);
	return is_there;
}

static bool is_forbidden_write(const struct signal_info *info,
			       const struct signal_state *state)
{
	return info->signal == SIGSEGV && info->code == SEGV_ACCERR &&
	       (state->error & ERROR_IS_WRITE);
}

static bool has_no_room(const struct signal_info *info)
{
	return info->signal == SIGBUS && info->code == BUS_ADRERR;
}

/* Where the engine has forbidden it: in translated code, or where the engine writes in
 * the program's name and has its own lock.  Or where it counts. */
static bool is_own_doing(const struct signal_info *info, const struct signal_state *state)
{
	bool is_engine = is_within(state->ip, __ehdr_start, _end);
	bool is_own;

	if (!is_forbidden_write(info, state) && !has_no_room(info))
		return false;
	if (!is_engine)
		spin_lock(&engine.lock);
	is_own = has_no_room(info) ? count_output_survive(info->addr)
				   : code_change_allow_write(info->addr);
	if (!is_engine)
		spin_unlock(&engine.lock);
	return is_own;
}

/* With what the thread is at, until others have done with it. */
static void come_to_rest(struct context *c, struct roll_state *s,
			 struct signal_state *state)
{
	spin_lock(&engine.lock);
	if (turnover_is_due())
		turnover_rest(c, s);
	spin_unlock(&engine.lock);
	put_state(state, s);
}

/* The flag stays set: behind the next instruction the thread is here again. */
static void step(struct context *c, struct roll_state *s, const struct signal_info *info,
		 struct signal_state *state)
{
	bool is_engine = is_within(state->ip, __ehdr_start, _end), ends;

	if (is_engine) {
		single_step_pass(c);
		return;
	}
	spin_lock(&engine.lock);
	ends = single_step_ends(c, s->code);
	spin_unlock(&engine.lock);
	if (ends && deliver(c, s, info, state))
		single_step_told(c);
}

/* Among the engine's own code; is_shut: as it was there. */
static void arrive_in_engine(struct context *c, struct signal_info *info,
			     struct signal_state *state, bool is_shut)
{
	if (turnover_is_call(info) || refuse_own_call(info, state))
		return;
	if (is_fault(info) || (is_forced(info) && signal_mask_blocks(c, info->signal)))
		leave_to_kernel(info);
	else if (is_shut || (c->is_held & COUNT_CONTROL_HELD_SIGNAL))
		signal_mask_delay(c, info, state);
	else
		hold(c, info, state);
}

static void arrive(struct context *c, struct signal_info *info,
		   struct signal_state *state, bool is_shut)
{
	struct roll_state s = { .flags = state->cpu_flags,
				.code = (const uint8_t *)state->ip };

	if (is_own_doing(info, state))
		return;
	if (!is_forced(info) && signal_mask_blocks(c, info->signal)) {
		signal_mask_keep(c, info, state);
		return;
	}
	signal_state_get(state, s.regs);
	if (single_step_is(info)) {
		step(c, &s, info, state);
		return;
	}
	if (is_within(state->ip, crossing_in_checked, crossing_in_end)) {
		memcpy(s.regs, c->regs, sizeof(s.regs));
		s.flags = c->flags;
		s.code = (const uint8_t *)c->resume;
	} else if (is_within(state->ip, __ehdr_start, _end)) {
		arrive_in_engine(c, info, state, is_shut);
		return;
	}
	if (turnover_is_call(info)) {
		come_to_rest(c, &s, state);
		return;
	}
	if (deliver(c, &s, info, state))
		return;
	if (is_fault(info))
		fatal_at("a fault that is not the program's, at", (uint64_t)s.code);
	hold(c, info, state);
}

void signal_arrives(int signal, struct signal_info *info, struct signal_state *state)
{
	struct context *c = context_own();
	bool was_shut = c->mask.is_shut && is_within(state->ip, __ehdr_start, _end);

	(void)signal;
	c->mask.is_shut = true;
	arrive(c, info, state, was_shut);
	c->mask.is_shut = was_shut;
}

/* Where the engine is entered next a thread is only that was to leave, and had nobody who
 * took it away: there it has the signal. */
static _Noreturn void come_again(struct context *c, const struct signal_state *state)
{
	struct signal_state on = *state;

	c->is_held |= COUNT_CONTROL_HELD_SIGNAL;
	on.mask = signal_mask_shut(c);
	crossing_return(&on);
}

void signal_deliver_held(struct context *c)
{
	struct held *h = held_of(c);
	struct roll_state s = { .flags = c->flags, .code = (const uint8_t *)c->resume };

	memcpy(s.regs, c->regs, sizeof(s.regs));
	c->mask.is_shut = true; /* until it is back in translated code */
	c->is_held &= ~(uint64_t)COUNT_CONTROL_HELD_SIGNAL;
	if (!deliver(c, &s, &h->frame.info, &h->frame.state))
		come_again(c, &h->frame.state);
	crossing_return(&h->frame.state);
}

bool signal_ends_call(struct context *c, enum count_control_call call)
{
	struct sys_sigaction a;

	if (!(c->is_held & COUNT_CONTROL_HELD_SIGNAL) || call < COUNT_CALL_UNLESS_FLAG)
		return false;
	a = signals_look(c, (unsigned)held_of(c)->frame.info.signal);
	return (uint64_t)a.handler > 1 &&
	       (call == COUNT_CALL_ENDS || !(a.flags & SA_RESTART));
}

/* The translation that a handler interrupted, NULL: not known any more. */
static const uint8_t *find_return(struct context *c, uint64_t frame, uint64_t addr,
				  uint64_t sp)
{
	for (unsigned i = 0; i < SIGNALS_DEPTH; i++) {
		struct signal_return *r = &c->signals.returns[i];
		const uint8_t *code = r->code;

		if (!code || r->frame != frame || r->addr != addr)
			continue;
		nest_resume(c, r->nest, sp);
		count_output_add_extra(COUNT_EXTRA_LEAVE, addr, r->block, r->nest, -1);
		r->code = NULL;
		return code;
	}
	return NULL;
}

static const uint8_t *find_or_make_return(struct context *c, uint64_t frame,
					  uint64_t addr, uint64_t sp)
{
	const uint8_t *code;

	spin_lock(&engine.lock);
	if (!turnover_was(c))
		count_output_add_extra(COUNT_EXTRA_LEAVE, c->call->addr, c->call->number,
				       c->nest, 1);
	code = find_return(c, frame, addr, sp);
	if (!code) {
		nest_return(c, sp, true);
		count_output_add_extra(COUNT_EXTRA_ENTER, addr, 0, c->nest, 1);
		code = translate(place_at(c->nest, addr));
	}
	context_set_call(c, NULL);
	spin_unlock(&engine.lock);
	return code;
}

long signals_return(struct context *c)
{
	struct signal_state s;
	uint64_t at = c->regs[RSP], mask;

	if (!signals_block(c, &mask))
		return GATE_NOT_MADE;
	if (!program_memory_read(&s, at, sizeof(s))) {
		leave_to_kernel(&(struct signal_info){ .signal = SIGSEGV });
		signals_release(c, 0); /* which ends it */
	}
	signals_restore_stack(c, &s.stack);
	s.ip = (uint64_t)find_or_make_return(c, at - offsetof(struct signal_frame, state),
					     s.ip, signal_state_sp(&s));
	single_step_resume(c, s.cpu_flags, (const uint8_t *)s.ip);
	s.stack = (struct signal_stack){ .at = (uint64_t)c + CONTEXT_STACK,
					 .bytes = CONTEXT_STACK_BYTES };
	s.mask = signal_mask_take(c, s.mask);
	crossing_return(&s);
}
