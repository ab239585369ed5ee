/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_fpe_left.h"

#include <signal.h>
#include <stdbool.h>

#include "inject/arch.h"
#include "inject/trace_fpe_state.h"
#include "inject/trace_fpe_x87.h"
#include "inject/trace_signal.h"

#define FLAGS TRACE_FPE_STATE_FLAGS
#define SHIFT TRACE_FPE_STATE_MASK_SHIFT
#define TYPES 6

enum { TRAP_X87 = 16, TRAP_SIMD = 19 };

/* A bit for each set of types that was observed at a time. */
static struct wire_injected_left left;

/* Of a set of types that are unmasked the part that is unmasked for us; 0: they are not
 * so.  The program may have enabled some beside. */
static uint32_t ours(uint64_t sets, uint32_t unmasked)
{
	uint32_t found = 0;

	for (uint32_t set = 1; set < 1u << TYPES; set++)
		if (sets >> set & 1 && (unmasked & set) == set)
			found |= set;
	return found;
}

static bool mask_simd(struct _libc_fpstate *f)
{
	uint32_t types = ours(left.sets, ~(f->mxcsr >> SHIFT) & FLAGS);

	f->mxcsr |= types << SHIFT;
	return types;
}

static bool mask_x87(const ucontext_t *uc)
{
	struct _libc_fpstate *f = uc->uc_mcontext.fpregs;
	uint32_t types = ours(left.sets_x87, ~(uint32_t)f->cwd & FLAGS), again;

	if (!types || !trace_fpe_x87_again(uc, types, &again))
		return false;
	f->mxcsr |= again & types; /* who tests flags looks at both */
	f->cwd |= (uint16_t)types;
	return true;
}

static bool mask(const ucontext_t *uc)
{
	greg_t trap = uc->uc_mcontext.gregs[REG_TRAPNO];

	if (!uc->uc_mcontext.fpregs)
		return false;
	return (trap == TRAP_SIMD && mask_simd(uc->uc_mcontext.fpregs)) ||
	       (trap == TRAP_X87 && mask_x87(uc));
}

/* Where the program has the default action, and where it ignores the signal: the kernel
 * ends who ignores what an instruction has raised. */
static void on_default(int signal, siginfo_t *info, void *context)
{
	bool is_sent = info->si_code <= 0;

	if (is_sent || !mask(context))
		trace_signal_end_by(signal, is_sent);
}

static void on_ignored(int signal, siginfo_t *info, void *context)
{
	if (info->si_code > 0)
		on_default(signal, info, context);
}

/* Behind the kernel this is the program's, with its flags and mask, and returns as that.
 */
static void on_own(int signal, siginfo_t *info, void *context)
{
	const struct sys_sigaction none = { .handler = (void *)SIG_DFL };

	if (info->si_code > 0 && mask(context))
		return;
	if (left.flags & SA_RESETHAND)
		sys_signal_action(signal, &none, NULL);
	((trace_signal_fn *)left.handler)(signal, info, context);
}

static const struct {
	void *of_program;
	trace_signal_fn *handler;
} handlers[] = {
	{ (void *)SIG_DFL, on_default },
	{ (void *)SIG_IGN, on_ignored },
};

/* Not for one that enables just these itself, as it could not be told which is whose. */
static bool take_own(struct sys_sigaction *a, bool is_ambiguous)
{
	if (a->handler == (void *)SIG_DFL || a->handler == (void *)SIG_IGN ||
	    is_ambiguous)
		return false;
	left.handler = (uintptr_t)a->handler;
	left.flags = a->flags;
	a->handler = (void *)on_own;
	a->flags = (a->flags | SA_SIGINFO) & ~(unsigned long)SA_RESETHAND;
	return true;
}

void trace_fpe_left_begin(uint32_t types, uint32_t types_x87, uint32_t allowed)
{
	struct sys_sigaction now = { 0 };

	left.sets |= UINT64_C(1) << types;
	left.sets_x87 |= UINT64_C(1) << types_x87;
	if (sys_signal_action(SIGFPE, NULL, &now) < 0)
		return;
	if (take_own(&now, (types & ~allowed) == 0)) {
		sys_signal_action(SIGFPE, &now, NULL);
		return;
	}
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		struct sys_sigaction action = {
			.handler = (void *)handlers[i].handler,
			.flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART | SYS_SA_RESTORER,
			.restorer = arch_restorer,
		};

		if (now.handler == handlers[i].of_program)
			sys_signal_action(SIGFPE, &action, NULL);
	}
}

void trace_fpe_left_show(struct sys_sigaction *action)
{
	if (action->handler == (void *)on_own) {
		action->handler = (void *)(uintptr_t)left.handler;
		action->flags = left.flags;
		return;
	}
	for (size_t i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++)
		if (action->handler == (void *)handlers[i].handler)
			*action =
				(struct sys_sigaction){ .handler =
								handlers[i].of_program };
}

struct wire_injected_left trace_fpe_left_keep(void)
{
	return left;
}

void trace_fpe_left_had(struct wire_injected_left was)
{
	left = was;
}
