/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_fpe.h"

#include <stddef.h>
#include <string.h>

#include "inject/arch.h"
#include "inject/sandbox.h"
#include "inject/trace_fpe_copy.h"
#include "inject/trace_fpe_left.h"
#include "inject/trace_fpe_state.h"
#include "inject/trace_fpe_x87.h"
#include "inject/trace_local.h"
#include "inject/trace_resume.h"
#include "inject/trace_runtime.h"
#include "inject/trace_signal.h"
#include "inject/trace_thread.h"
#include "inject/vdso.h"
#include "wire/tracer.h"

#define FLAGS TRACE_FPE_STATE_FLAGS
#define SHIFT TRACE_FPE_STATE_MASK_SHIFT
#define ALL   (FLAGS << SHIFT)
#define TF    0x100 /* of the flags: a trap behind the next instruction */

/* Of the kernel's: what the instruction did. */
enum { TRAP_DIVIDE = 0, TRAP_X87 = 16, TRAP_SIMD = 19 };

static uint32_t wanted; /* types; 0: nothing is observed */
/* The same of the x87 unit.  Its exceptions are told at its next instruction: what is
 * made again then was to store an integer long before, if it was to, and that is found
 * invalid and nothing else; so these are observed by request.  The unit's result of an
 * overflow, underflow or rounding is another one where that is not masked, and is there
 * already. */
static uint32_t wanted_x87;
/* Types that the program unmasked, in whichever thread it did so last. */
static uint32_t allowed_last;
static bool is_fading;

static struct trace_fpe_mine *mine(void)
{
	return &trace_local()->fpe;
}

static uint32_t allowed(void)
{
	return mine()->has_allowed ? mine()->allowed
				   : __atomic_load_n(&allowed_last, __ATOMIC_RELAXED);
}

/* Types that are unmasked by us alone. */
static uint32_t ours(void)
{
	return wanted & ~allowed();
}

static uint16_t ours_x87(void)
{
	return (uint16_t)(wanted_x87 & ~allowed());
}

/* What the x87 unit has is pending as soon as it is unmasked: who tests flags finds them
 * in either unit. */
static void move_flags(void)
{
	uint16_t told = trace_fpe_state_status() & (uint16_t)wanted_x87;

	if (!told)
		return;
	trace_fpe_state_clear_status(told);
	trace_fpe_state_set_mxcsr(trace_fpe_state_mxcsr() | told);
}

static void arm(void)
{
	uint16_t control = trace_fpe_state_control();

	move_flags();
	trace_fpe_state_set_mxcsr(trace_fpe_state_mxcsr() & ~(wanted << SHIFT));
	if (control & wanted_x87)
		trace_fpe_state_set_control(control & (uint16_t)~wanted_x87);
}

static void disarm(void)
{
	trace_fpe_state_wait();
	trace_fpe_state_set_control(trace_fpe_state_control() | ours_x87());
	trace_fpe_state_set_mxcsr(trace_fpe_state_mxcsr() | ours() << SHIFT);
}

/* Which flags there are now is known. */
static void note_flags(uint32_t mxcsr)
{
	struct trace_fpe_event *event = mine()->event;

	if (!event)
		return;
	trace_fpe_settle(event);
	event->armed = mxcsr;
	event->raised = 0;
	event->has_flags = true;
	event->kept = 0;
}

/* What the program allows is followed where nothing is observed any more, too. */
void trace_fpe_show(void)
{
	if (!wanted)
		return;
	if (!mine()->has_left)
		disarm();
	mine()->is_shown = true;
}

void trace_fpe_hide(void)
{
	if (!wanted)
		return;
	mine()->allowed = ~(trace_fpe_state_mxcsr() >> SHIFT) & FLAGS;
	mine()->has_allowed = true;
	mine()->is_shown = false;
	__atomic_store_n(&allowed_last, mine()->allowed, __ATOMIC_RELAXED);
	if (mine()->has_left)
		return;
	if (!sandbox_is_on())
		arm();
	note_flags(trace_fpe_state_mxcsr());
}

void trace_fpe_leave(void)
{
	if (!wanted)
		return;
	disarm();
	mine()->has_left = true;
}

static struct _libc_fpstate *state_of(const ucontext_t *uc)
{
	return uc->uc_mcontext.fpregs;
}

static void mask(struct _libc_fpstate *f)
{
	f->mxcsr |= ours() << SHIFT;
	f->cwd |= ours_x87();
}

/* What was interrupted is shown to a handler as the program knows it, and left so by one
 * that does not return here. */
static void show_context(struct trace_fpe_interrupted *i, const ucontext_t *uc)
{
	struct _libc_fpstate *f = state_of(uc);

	if (!f)
		return;
	i->mxcsr = f->mxcsr & ALL;
	i->control = f->cwd & FLAGS;
	if (!i->is_shown)
		mask(f);
	i->shown_mxcsr = f->mxcsr & ALL;
	i->shown_control = f->cwd & FLAGS;
}

static void hide_context(const struct trace_fpe_interrupted *i, const ucontext_t *uc)
{
	struct _libc_fpstate *f = state_of(uc);

	if (!f)
		return;
	if ((f->mxcsr & ALL) == i->shown_mxcsr)
		f->mxcsr = (f->mxcsr & ~ALL) | i->mxcsr;
	if ((f->cwd & FLAGS) == i->shown_control)
		f->cwd = (uint16_t)((f->cwd & ~FLAGS) | i->control);
}

void trace_fpe_enter_handler(struct trace_fpe_interrupted *ret, void *context)
{
	*ret = (struct trace_fpe_interrupted){
		.is_armed = wanted && !mine()->has_left && !sandbox_is_on(),
		.is_busy = mine()->is_busy,
		.is_shown = mine()->is_shown,
	};
	mine()->is_busy = false;
	if (!ret->is_armed)
		return;
	show_context(ret, context);
	ret->allowed = allowed();
	ret->is_stepping = mine()->is_stepping;
	mine()->allowed = 0;
	mine()->has_allowed = true;
	mine()->is_shown = mine()->is_stepping = false;
	if (mine()->event) {
		ret->event = *mine()->event;
		*mine()->event = (struct trace_fpe_event){ 0 };
	}
	trace_signal_unblock();
	arm();
	note_flags(trace_fpe_state_mxcsr());
}

void trace_fpe_leave_handler(const struct trace_fpe_interrupted *i, void *context)
{
	mine()->is_busy = i->is_busy;
	if (!i->is_armed || !wanted)
		return;
	hide_context(i, context);
	mine()->allowed = i->allowed;
	mine()->is_shown = i->is_shown;
	mine()->is_stepping = i->is_stepping;
	if (!mine()->event)
		return;
	trace_fpe_settle(mine()->event);
	*mine()->event = i->event;
}

/* Records. */

/* In a fork's child nothing is open any more when it is known for one. */
void trace_fpe_settle(struct trace_fpe_event *event)
{
	bool is_on = event->likely && trace_runtime_is_on();
	struct wire_tracer_fpe_again r = {
		.stack = event->stack,
		.was = is_on ? event->likely : 0,
		.is = event->raised & wanted,
	};

	event->likely = 0;
	if (r.was && event->raised != TRACE_FPE_NOT_YET && r.was != r.is)
		trace_runtime_write(WIRE_TRACER_FPE_AGAIN, &r, sizeof(r), NULL, 0);
}

static void tell(uint64_t stack, uint32_t types)
{
	struct wire_tracer_fpe r = { .time_ns = vdso_now_ns(),
				     .stack = stack,
				     .types = types };

	trace_runtime_write(WIRE_TRACER_FPE_RAISED, &r, sizeof(r), NULL, 0);
}

static bool is_observing(void)
{
	return !is_fading && trace_runtime_is_on() && !trace_runtime_is_paused();
}

/* An alternate stack of the program's may have room for the signal and little else. */
struct told {
	const ucontext_t *context;
	uint32_t types;
	uint64_t stack; /* id */
};

static void tell_on_own_stack(void *p)
{
	struct told *t = p;

	if (mine()->event)
		trace_fpe_settle(mine()->event);
	t->stack = trace_thread_stack_at(t->context);
	tell(t->stack, t->types);
}

static uint64_t tell_at(const ucontext_t *context, uint32_t types)
{
	struct told t = { .context = context, .types = types };
	void *stack = trace_thread_handler_stack();

	if (stack)
		arch_call_on(stack, tell_on_own_stack, &t);
	return t.stack;
}

void trace_fpe_asked(unsigned types, const uint64_t *frame)
{
	types &= wanted;
	if (!types || mine()->has_left || !is_observing())
		return;
	tell(trace_thread_stack(frame), types);
}

/* Signals. */

/* The handler of the program's is shown what it would be, and is so already within a call
 * that shows it; trace_fpe_hide() sees then what it left. */
static void pass_on(int signal, siginfo_t *info, ucontext_t *uc)
{
	struct _libc_fpstate *f = state_of(uc);

	if (!mine()->is_shown && !mine()->has_left)
		mask(f);
	trace_signal_pass_on(signal, info, uc);
	if (mine()->is_shown)
		return;
	mine()->allowed = ~(f->mxcsr >> SHIFT) & FLAGS;
	mine()->has_allowed = true;
	if (mine()->has_left || is_fading)
		return;
	f->mxcsr &= ~(wanted << SHIFT);
	f->cwd &= (uint16_t)~wanted_x87;
	note_flags(f->mxcsr);
}

static bool can_observe(void)
{
	return mine()->event && trace_runtime.is_on && !mine()->has_left && !is_fading;
}

/* Not to be observed from here on. */
static void give_up(ucontext_t *uc)
{
	bool had_left = mine()->has_left;

	mask(state_of(uc));
	mine()->has_left = true;
	if (!had_left && !is_fading && trace_runtime.ring.header && trace_runtime.is_on)
		ring_count(&trace_runtime.ring.header->n_threads_refused, 1);
}

/* Flags that the thread had before, as far as that is known. */
static bool had_flags(uint32_t *ret)
{
	const struct trace_fpe_event *event = mine()->event;

	if (!event || !event->has_flags || event->raised == TRACE_FPE_NOT_YET)
		return false;
	*ret = (event->armed | event->raised) & FLAGS;
	return true;
}

/* Of several flags, of which one would be signalled to the program, that one may be of
 * long before. */
static bool is_ambiguous(uint32_t raised)
{
	uint32_t before;

	return raised & allowed() && raised & (raised - 1) &&
	       !(had_flags(&before) && !(raised & before));
}

/* Flags that were set before tell nothing, unless no others are. */
static uint32_t likely_of(uint32_t raised)
{
	uint32_t before = 0;

	had_flags(&before);
	return raised & ~before ? raised & ~before : raised;
}

/* Unmasked, what is small raises an underflow; masked, what is small and inexact. */
static uint32_t without_underflow(uint32_t mxcsr)
{
	uint32_t before;

	return had_flags(&before) && !(before & WIRE_TRACER_FPE_UNDERFLOW)
		       ? mxcsr & ~WIRE_TRACER_FPE_UNDERFLOW
		       : mxcsr;
}

/* Masked: by a copy, or by a step with a trap behind it. */
static void make_again(ucontext_t *uc, uint64_t stack, uint32_t likely)
{
	struct trace_fpe_event *event = mine()->event;
	struct _libc_fpstate *f = state_of(uc);
	uintptr_t code;

	event->armed = without_underflow(f->mxcsr);
	event->has_flags = true;
	event->stack = stack;
	event->likely = likely;
	event->raised = TRACE_FPE_NOT_YET;
	f->mxcsr = (f->mxcsr | ALL) & ~FLAGS;
	code = trace_fpe_copy_of(arch_pc(uc), &mine()->event, !sandbox_is_on());
	if (code) {
		uc->uc_mcontext.gregs[REG_RIP] = (greg_t)code;
		return;
	}
	mine()->is_stepping = true;
	uc->uc_mcontext.gregs[REG_EFL] |= TF;
}

/* The instruction tells of its own flags when it raises them once more. */
static bool keep_flags(struct _libc_fpstate *f, uint32_t raised)
{
	if (!mine()->event || mine()->event->kept || !is_ambiguous(raised))
		return false;
	mine()->event->kept = f->mxcsr & FLAGS;
	f->mxcsr &= ~FLAGS;
	return true;
}

static bool give_back_flags(struct _libc_fpstate *f)
{
	uint32_t kept = mine()->event ? mine()->event->kept : 0;

	if (!kept)
		return false;
	f->mxcsr |= kept;
	mine()->event->kept = 0;
	return true;
}

/* Each of these returns whether nothing of the program's has run. */

static bool take_simd(int signal, siginfo_t *info, ucontext_t *uc)
{
	struct _libc_fpstate *f = state_of(uc);
	uint64_t stack = WIRE_TRACER_NO_STACK;
	uint32_t raised = f->mxcsr & ~(f->mxcsr >> SHIFT) & FLAGS, types;
	bool is_observed;

	mine()->event = trace_thread_fpe();
	if (!mine()->is_shown && keep_flags(f, raised))
		return true;
	raised = give_back_flags(f) ? raised : likely_of(raised);
	types = raised & wanted;
	is_observed = mine()->event && types && !mine()->is_shown && is_observing();
	if (is_observed)
		stack = tell_at(uc, types);
	if (mine()->is_shown || raised & allowed()) {
		pass_on(signal, info, uc);
		return false;
	}
	if (!can_observe())
		give_up(uc);
	else
		make_again(uc, stack, is_observed ? types : 0);
	return true;
}

static bool take_x87(int signal, siginfo_t *info, ucontext_t *uc)
{
	struct _libc_fpstate *f = state_of(uc);
	uint32_t raised = f->swd & ~(uint32_t)f->cwd & FLAGS, again;

	mine()->event = trace_thread_fpe();
	if (raised & wanted && !mine()->is_shown && is_observing())
		tell_at(uc, raised & wanted);
	if (mine()->is_shown || raised & allowed() ||
	    !trace_fpe_x87_again(uc, wanted_x87, &again)) {
		pass_on(signal, info, uc);
		return false;
	}
	f->mxcsr |= again & wanted_x87;
	if (!can_observe())
		give_up(uc);
	return true;
}

static bool take_divide(int signal, siginfo_t *info, ucontext_t *uc)
{
	mine()->event = trace_thread_fpe();
	if (is_observing())
		tell_at(uc, WIRE_TRACER_FPE_INTEGER);
	pass_on(signal, info, uc);
	return false;
}

static bool take(int signal, siginfo_t *info, ucontext_t *uc)
{
	greg_t trap = uc->uc_mcontext.gregs[REG_TRAPNO];

	if (info->si_code <= 0 || !state_of(uc)) {
		trace_signal_pass_on(signal, info, uc);
		return false;
	}
	if (trap == TRAP_SIMD)
		return take_simd(signal, info, uc);
	if (trap == TRAP_X87)
		return take_x87(signal, info, uc);
	return take_divide(signal, info, uc);
}

static void take_step(int signal, siginfo_t *info, ucontext_t *uc)
{
	struct _libc_fpstate *f = state_of(uc);

	if (!mine()->is_stepping || info->si_code != TRAP_TRACE) {
		trace_signal_pass_on(signal, info, uc);
		return;
	}
	mine()->is_stepping = false;
	uc->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TF;
	mine()->event->raised = f->mxcsr & FLAGS;
	f->mxcsr = mine()->event->armed | mine()->event->raised;
}

/* Whoever looks from outside sees a thread here, or that it is busy. */
static void be_busy(bool is)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mine()->is_busy = is;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void on_exception(int signal, siginfo_t *info, void *context)
{
	bool is_ours;

	be_busy(true);
	is_ours = take(signal, info, context);
	trace_signal_end_context(context);
	be_busy(false);
	/* Who restricts calls may forbid this one and not the kernel's way back. */
	if (is_ours && trace_runtime_may_ask())
		trace_resume(context);
}

static void on_step(int signal, siginfo_t *info, void *context)
{
	be_busy(true);
	take_step(signal, info, context);
	trace_signal_end_context(context);
	be_busy(false);
}

uint32_t trace_fpe_observe(uint32_t types, uint32_t *ret_x87)
{
	wanted = types & FLAGS;
	wanted_x87 = wanted & (WIRE_TRACER_FPE_DIVIDE | WIRE_TRACER_FPE_DENORMAL);
	if (types & WIRE_TRACER_FPE_X87)
		wanted_x87 |= wanted & WIRE_TRACER_FPE_INVALID;
	trace_signal_take(SIGFPE, on_exception);
	trace_signal_take(SIGTRAP, on_step);
	*ret_x87 = wanted_x87;
	return wanted;
}

void trace_fpe_had(struct trace_fpe_mine *m, uint32_t types)
{
	*m = (struct trace_fpe_mine){ .allowed = types, .has_allowed = true };
}

void trace_fpe_will_have(uint32_t types)
{
	allowed_last = types;
}

uint32_t trace_fpe_has(const struct trace_fpe_mine *m)
{
	return m->has_allowed ? m->allowed : allowed_last;
}

void trace_fpe_fade(void)
{
	is_fading = true;
}

bool trace_fpe_is_busy(const struct trace_fpe_mine *m, uintptr_t pc)
{
	return m->is_busy || m->is_shown || m->is_stepping ||
	       (m->event && m->event->kept) || trace_fpe_copy_has(pc) ||
	       pc - trace_runtime.text_lo < trace_runtime.text_hi - trace_runtime.text_lo;
}

void trace_fpe_forget(void)
{
	trace_signal_give_back(on_exception, on_step);
	trace_fpe_left_begin(wanted, wanted_x87, allowed_last);
	wanted = wanted_x87 = 0;
}

/* Not while threads may still raise what is executed there. */
void trace_fpe_unmap(void)
{
	if (wanted)
		return;
	trace_signal_give_back_handlers();
	trace_fpe_copy_unmap();
}

#ifndef DWELL_INJECTED

void trace_fpe_begin(void)
{
	uint32_t x87;

	trace_fpe_observe(trace_runtime.meeting.control->fpe_types, &x87);
	trace_signal_take_mask();
	trace_fpe_had(mine(), ~(trace_fpe_state_mxcsr() >> SHIFT) & FLAGS);
	arm();
}

#endif

/* What the last instruction of each thread raised is known. */
__attribute__((destructor)) void trace_fpe_end(void)
{
	if (wanted && trace_runtime_is_on())
		trace_thread_each_fpe(trace_fpe_settle);
}
