/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_signal.h"

#include <string.h>

#include "bare/sys.h"
#include "inject/arch.h"
#include "inject/next.h"
#include "inject/trace_fpe.h"
#include "inject/trace_fpe_left.h"
#include "inject/trace_local.h"
#include "inject/trace_runtime.h"

ARCH_RESTORER_DEFINE;

#define EXPORT	   __attribute__((visibility("default")))
#define N_SIGNALS  65
#define BIT(s)	   (UINT64_C(1) << ((s)-1))
#define OURS	   (BIT(SIGFPE) | BIT(SIGTRAP))
#define IS_OURS(s) ((s) == SIGFPE || (s) == SIGTRAP)

static bool is_taken;

/* As the program set them. */
static struct sys_sigaction actions[N_SIGNALS]; /* of ours */
static struct {
	void *handler;
	uint64_t hidden; /* of its mask */
} handlers[N_SIGNALS];

static uint64_t *blocked(void)
{
	return &trace_local()->blocked;
}

static bool is_handler(const void *f)
{
	return (uintptr_t)f > (uintptr_t)2 && f != (void *)SIG_ERR; /* SIG_HOLD */
}

void trace_signal_unblock(void)
{
	uint64_t set = OURS;

	sys_signal_mask(SIG_UNBLOCK, &set, NULL);
}

void trace_signal_take(int signal, trace_signal_fn *handler)
{
	struct sys_sigaction action = {
		.handler = (void *)handler,
		.flags = SA_SIGINFO | SA_ONSTACK | SYS_SA_RESTORER,
		.restorer = arch_restorer,
		.mask = ~UINT64_C(0),
	};

	sys_signal_action(signal, &action, &actions[signal]);
	trace_fpe_left_show(&actions[signal]);
	is_taken = true;
	trace_runtime.has_frames_within = true;
}

void trace_signal_take_mask(void)
{
	uint64_t mask = 0;

	sys_signal_mask(SIG_BLOCK, NULL, &mask);
	*blocked() |= mask & OURS;
	trace_signal_unblock();
}

void trace_signal_end_context(void *context)
{
	((ucontext_t *)context)->uc_link = context;
}

static void dispatch(int signal, siginfo_t *info, void *context)
{
	trace_signal_fn *f = (trace_signal_fn *)__atomic_load_n(&handlers[signal].handler,
								__ATOMIC_RELAXED);
	struct trace_fpe_interrupted interrupted;

	if (!f)
		return;
	trace_fpe_enter_handler(&interrupted, context);
	f(signal, info, context);
	trace_fpe_leave_handler(&interrupted, context);
	trace_signal_end_context(context);
}

void trace_signal_end_by(int signal, bool is_sent)
{
	struct sys_sigaction action = { .handler = (void *)SIG_DFL };

	sys_signal_action(signal, &action, NULL);
	if (is_sent || signal == SIGTRAP)
		sys_call(SYS_tgkill, sys_getpid(), sys_gettid(), signal, 0, 0, 0);
}

/* The kernel ends whoever ignores or blocks what an instruction has raised. */
void trace_signal_pass_on(int signal, siginfo_t *info, void *context)
{
	struct sys_sigaction action = actions[signal];
	bool is_sent = info->si_code <= 0;
	struct trace_fpe_interrupted interrupted;
	uint64_t mask;

	if (!is_sent && *blocked() & BIT(signal))
		action.handler = (void *)SIG_DFL;
	if (!is_handler(action.handler)) {
		if (action.handler == (void *)SIG_DFL || !is_sent)
			trace_signal_end_by(signal, is_sent);
		return;
	}
	if (action.flags & SA_RESETHAND)
		actions[signal].handler = (void *)SIG_DFL;
	memcpy(&mask, &((const ucontext_t *)context)->uc_sigmask, sizeof(mask));
	mask = (mask | action.mask) & ~OURS;
	sys_signal_mask(SIG_SETMASK, &mask, NULL);
	trace_fpe_enter_handler(&interrupted, context);
	((trace_signal_fn *)action.handler)(signal, info, context);
	trace_fpe_leave_handler(&interrupted, context);
}

/* Handlers that are there already. */

/* The C library has two of its own, of which programs know nothing. */
#define IS_PROGRAMS(s) (!IS_OURS(s) && (s) != 32 && (s) != 33)

void trace_signal_take_handlers(void)
{
	struct sys_sigaction a;

	for (int s = 1; s < N_SIGNALS; s++) {
		if (!IS_PROGRAMS(s) || sys_signal_action(s, NULL, &a) < 0 ||
		    !is_handler(a.handler) ||
		    (a.handler == (void *)dispatch && handlers[s].handler))
			continue;
		if (a.handler == (void *)dispatch) { /* whose is not known any more */
			a.handler = (void *)SIG_DFL;
			sys_signal_action(s, &a, NULL);
			continue;
		}
		handlers[s].handler = a.handler;
		handlers[s].hidden = a.mask & OURS;
		a.handler = (void *)dispatch;
		a.mask &= ~OURS;
		sys_signal_action(s, &a, NULL);
	}
}

void trace_signal_give_back_handlers(void)
{
	struct sys_sigaction a;

	for (int s = 1; s < N_SIGNALS; s++) {
		if (!IS_PROGRAMS(s) || sys_signal_action(s, NULL, &a) < 0 ||
		    a.handler != (void *)dispatch)
			continue;
		a.handler = handlers[s].handler;
		a.mask |= handlers[s].hidden;
		sys_signal_action(s, &a, NULL);
	}
}

static void *next_of(void **cached, const char *name)
{
	void *p = __atomic_load_n(cached, __ATOMIC_RELAXED);

	if (p)
		return p;
	p = next_symbol(name);
	__atomic_store_n(cached, p, __ATOMIC_RELAXED);
	return p;
}

static void note_blocked(int how, uint64_t set)
{
	set &= OURS;
	if (how == SIG_BLOCK)
		*blocked() |= set;
	else if (how == SIG_UNBLOCK)
		*blocked() &= ~set;
	else if (how == SIG_SETMASK)
		*blocked() = set;
}

/* Actions. */

static void tell_action(int signal, struct sigaction *ret)
{
	const struct sys_sigaction *a = &actions[signal];

	memset(ret, 0, sizeof(*ret));
	ret->sa_handler = (void (*)(int))a->handler;
	ret->sa_flags = (int)a->flags;
	memcpy(&ret->sa_mask, &a->mask, sizeof(a->mask));
}

static void set_action(int signal, void *handler, const sigset_t *mask, int flags)
{
	struct sys_sigaction *a = &actions[signal];

	if (trace_runtime_is_vforked()) /* whose signals are its own */
		return;
	a->flags = (unsigned)flags | SYS_SA_RESTORER; /* as the C library has it */
	if (mask)
		memcpy(&a->mask, mask, sizeof(a->mask));
	else
		a->mask = 0;
	__atomic_store_n(&a->handler, handler, __ATOMIC_RELEASE);
}

typedef int sigaction_fn(int signal, const struct sigaction *set, struct sigaction *get);

/* By the C library, which knows the code by which its handlers return. */
static void give_back(int signal, const void *ours)
{
	sigaction_fn *f = (sigaction_fn *)next_symbol("sigaction");
	struct sys_sigaction now;
	struct sigaction a;

	if (sys_signal_action(signal, NULL, &now) < 0 || now.handler != ours)
		return;
	if (actions[signal].restorer || !f || !is_handler(actions[signal].handler)) {
		sys_signal_action(signal, &actions[signal], NULL);
		return;
	}
	tell_action(signal, &a);
	f(signal, &a, NULL);
}

void trace_signal_give_back(trace_signal_fn *on_fpe, trace_signal_fn *on_trap)
{
	if (!is_taken)
		return;
	is_taken = false;
	give_back(SIGFPE, (const void *)on_fpe);
	give_back(SIGTRAP, (const void *)on_trap);
	trace_signal_give_back_handlers();
}

/* The program's handler becomes ours, which calls it. */
static int set_handler(sigaction_fn *f, int signal, const struct sigaction *set,
		       struct sigaction *get)
{
	__typeof__(handlers[0]) *h = &handlers[signal], before = *h;
	struct sigaction copy;
	uint64_t mask;
	int rc;

	if (set && is_handler((void *)set->sa_handler) && !trace_runtime_is_vforked()) {
		copy = *set;
		memcpy(&mask, &set->sa_mask, sizeof(mask));
		h->hidden = mask & OURS;
		mask &= ~OURS;
		memcpy(&copy.sa_mask, &mask, sizeof(mask));
		copy.sa_handler = (void (*)(int))(void *)dispatch;
		__atomic_store_n(&h->handler, (void *)set->sa_handler, __ATOMIC_RELEASE);
		set = &copy;
	}
	rc = f(signal, set, get);
	if (rc < 0 && set)
		*h = before;
	if (rc < 0 || !get || (void *)get->sa_handler != (void *)dispatch)
		return rc;
	get->sa_handler = (void (*)(int))before.handler;
	memcpy(&mask, &get->sa_mask, sizeof(mask));
	mask |= before.hidden;
	memcpy(&get->sa_mask, &mask, sizeof(mask));
	return rc;
}

EXPORT sigaction_fn trace_signal_sigaction __asm__("sigaction");

int trace_signal_sigaction(int signal, const struct sigaction *set, struct sigaction *get)
{
	static void *next;
	sigaction_fn *f = (sigaction_fn *)next_of(&next, "sigaction");
	struct sigaction before;

	if (!is_taken || signal <= 0 || signal >= N_SIGNALS)
		return f(signal, set, get);
	if (!IS_OURS(signal))
		return set_handler(f, signal, set, get);
	tell_action(signal, &before);
	if (set)
		set_action(signal, (void *)set->sa_handler, &set->sa_mask, set->sa_flags);
	if (get)
		*get = before;
	return 0;
}

typedef void *signal_fn(int signal, void *handler);

static void *set_simply(signal_fn *f, int signal, void *handler, int flags)
{
	void *before, *got;

	if (!is_taken || signal <= 0 || signal >= N_SIGNALS)
		return f(signal, handler);
	if (IS_OURS(signal)) {
		before = actions[signal].handler;
		set_action(signal, handler, NULL, flags);
		return before;
	}
	before = handlers[signal].handler;
	if (is_handler(handler) && !trace_runtime_is_vforked()) {
		handlers[signal].hidden = 0;
		__atomic_store_n(&handlers[signal].handler, handler, __ATOMIC_RELEASE);
		handler = (void *)dispatch;
	}
	got = f(signal, handler);
	if (got == (void *)SIG_ERR)
		handlers[signal].handler = before;
	return got == (void *)dispatch ? before : got;
}

#define WRAP_SIGNAL(name, flags)                                                         \
	EXPORT signal_fn trace_signal_##name __asm__(#name);                             \
	void *trace_signal_##name(int signal, void *handler)                             \
	{                                                                                \
		static void *next;                                                       \
                                                                                         \
		return set_simply((signal_fn *)next_of(&next, #name), signal, handler,   \
				  flags);                                                \
	}

WRAP_SIGNAL(signal, SA_RESTART)
WRAP_SIGNAL(bsd_signal, SA_RESTART)
WRAP_SIGNAL(ssignal, SA_RESTART)
WRAP_SIGNAL(sysv_signal, SA_RESETHAND | SA_NODEFER)
WRAP_SIGNAL(__sysv_signal, SA_RESETHAND | SA_NODEFER)

/* By this one a signal is blocked, too. */
EXPORT signal_fn trace_signal_sigset __asm__("sigset");

void *trace_signal_sigset(int signal, void *handler)
{
	static void *next;
	signal_fn *f = (signal_fn *)next_of(&next, "sigset");
	uint64_t was = *blocked();
	void *before;

	if (!is_taken || !IS_OURS(signal))
		return set_simply(f, signal, handler, 0);
	before = actions[signal].handler;
	if (handler != (void *)SIG_HOLD)
		set_action(signal, handler, NULL, 0);
	note_blocked(handler == (void *)SIG_HOLD ? SIG_BLOCK : SIG_UNBLOCK, BIT(signal));
	return was & BIT(signal) ? (void *)SIG_HOLD : before;
}

/* Masks. */

typedef int mask_fn(int how, const sigset_t *set, sigset_t *get);

static int set_mask(mask_fn *f, int how, const sigset_t *set, sigset_t *get)
{
	uint64_t asked = 0, mask, was = *blocked();
	sigset_t copy;
	int rc;

	if (!is_taken)
		return f(how, set, get);
	if (set) {
		copy = *set;
		memcpy(&asked, set, sizeof(asked));
		mask = asked & ~OURS;
		memcpy(&copy, &mask, sizeof(mask));
	}
	rc = f(how, set ? &copy : NULL, get);
	if (rc != 0)
		return rc;
	if (set)
		note_blocked(how, asked);
	if (get) {
		memcpy(&mask, get, sizeof(mask));
		mask |= was;
		memcpy(get, &mask, sizeof(mask));
	}
	return 0;
}

#define WRAP_MASK(name)                                                                  \
	EXPORT mask_fn trace_signal_##name __asm__(#name);                               \
	int trace_signal_##name(int how, const sigset_t *set, sigset_t *get)             \
	{                                                                                \
		static void *next;                                                       \
                                                                                         \
		return set_mask((mask_fn *)next_of(&next, #name), how, set, get);        \
	}

WRAP_MASK(sigprocmask)
WRAP_MASK(pthread_sigmask)

typedef int old_mask_fn(int what);

/* Of BSD: 32 signals, and what was there before. */
static int set_old_mask(old_mask_fn *f, int how, int set)
{
	uint64_t was = *blocked();

	if (!is_taken)
		return f(set);
	note_blocked(how, (uint32_t)set);
	return f(set & ~(int)OURS) | (int)was;
}

/* Of System V: one. */
static int set_one(old_mask_fn *f, int how, int signal)
{
	if (!is_taken || !IS_OURS(signal))
		return f(signal);
	note_blocked(how, BIT(signal));
	return 0;
}

#define WRAP_OLD(name, set_it, how)                                                      \
	EXPORT old_mask_fn trace_signal_##name __asm__(#name);                           \
	int trace_signal_##name(int what)                                                \
	{                                                                                \
		static void *next;                                                       \
                                                                                         \
		return set_it((old_mask_fn *)next_of(&next, #name), how, what);          \
	}

WRAP_OLD(sigblock, set_old_mask, SIG_BLOCK)
WRAP_OLD(sigsetmask, set_old_mask, SIG_SETMASK)
WRAP_OLD(sighold, set_one, SIG_BLOCK)
WRAP_OLD(sigrelse, set_one, SIG_UNBLOCK)

/* Of a thread that is still to be made. */
typedef int attribute_fn(void *attribute, const sigset_t *set);

EXPORT attribute_fn trace_signal_attribute __asm__("pthread_attr_setsigmask_np");

int trace_signal_attribute(void *attribute, const sigset_t *set)
{
	static void *next;
	attribute_fn *f = (attribute_fn *)next_of(&next, "pthread_attr_setsigmask_np");
	sigset_t copy;
	uint64_t mask;

	if (!is_taken || !set)
		return f(attribute, set);
	copy = *set;
	memcpy(&mask, set, sizeof(mask));
	mask &= ~OURS;
	memcpy(&copy, &mask, sizeof(mask));
	return f(attribute, &copy);
}
