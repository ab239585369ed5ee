/* SPDX-License-Identifier: Apache-2.0
 * What a program says of signals: handlers and their stacks. */
#include "count/signals.h"

#include <errno.h>
#include <string.h>

#include "count/context.h"
#include "count/gate.h"
#include "count/program_memory.h"
#include "count/signal_delivery.h"

enum { A = 7, B = 6, C = 2, D = 10, RSP = 4 };

#ifndef SS_AUTODISARM
#define SS_AUTODISARM (1u << 31)
#endif
#define EXPOSE_TAG_BITS 0x800u

/* Of a handler's, those that are the kernel's business. */
#define KERNELS (SA_RESTART | SA_NOCLDSTOP | SA_NOCLDWAIT)
#define KNOWN                                                                            \
	(KERNELS | SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESETHAND |                 \
	 SYS_SA_RESTORER | EXPOSE_TAG_BITS)

#define BIT(signal) (1ULL << ((signal)-1))
/* Of these the engine hears though nobody handles them: what they end has left its block
 * before the block's end.  And of the first it makes use itself. */
#define FAULTS (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGILL) | BIT(SIGFPE) | BIT(SIGSYS))
/* Of these even while it is at work for another. */
#define WITHIN	      (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGSYS))
#define NEVER_BLOCKED (BIT(SIGKILL) | BIT(SIGSTOP))
#define LEAST_STACK   2048

static struct signal_actions actions;

void signals_have_stack(const struct context *c)
{
	struct signal_stack own = { .at = (uint64_t)c + CONTEXT_STACK,
				    .bytes = CONTEXT_STACK_BYTES };

	sys_call(SYS_sigaltstack, &own, 0, 0, 0, 0, 0);
}

void signals_begin_thread(const struct context *c)
{
	signals_have_stack(c);
	sys_signal_mask(SIG_SETMASK, &c->begin_mask, NULL);
}

void signals_init(struct context *c)
{
	uint64_t mask = 0;

	c->signals = (struct signals){ .actions = &actions };
	sys_signal_mask(SIG_SETMASK, NULL, &mask);
	c->begin_mask = signal_mask_take(c, mask);
	signals_ask();
	signals_install(c);
	signals_begin_thread(
		c); /* with what waits since before the program was executed */
}

void signals_ask(void)
{
	for (int i = 1; i <= 64; i++)
		sys_signal_action(i, NULL, &actions.of[i]);
}

void signals_take_over(struct context *c)
{
	c->mask = (struct signal_mask){ 0 };
	c->signals = (struct signals){ .actions = &actions };
}

void signals_join(struct context *c)
{
	struct signal_stack *s = &c->signals.stack;

	sys_call(SYS_sigaltstack, 0, s, 0, 0, 0, 0);
	if (s->flags & SS_DISABLE)
		*s = (struct signal_stack){ 0 };
	s->flags &= SS_AUTODISARM;
	signals_begin_thread(c);
}

void signals_tell_stack(const struct context *c, uint64_t ret[3])
{
	struct signal_stack s = c->signals.stack;

	if (!s.bytes)
		s.flags = SS_DISABLE;
	memcpy(ret, &s, sizeof(s));
}

void signals_inherit(struct context *child, const struct context *parent,
		     bool has_handlers, bool has_stack)
{
	child->signals = (struct signals){ .actions = parent->signals.actions };
	if (has_handlers) {
		memcpy(child->signals.own.of, parent->signals.actions->of,
		       sizeof(child->signals.own.of));
		child->signals.actions = &child->signals.own;
	}
	if (has_stack)
		child->signals.stack = parent->signals.stack;
	child->mask = parent->mask;
	child->mask.is_shut = false;
	child->is_held = 0;
}

void signals_forget_returns(struct context *c)
{
	memset(c->signals.returns, 0, sizeof(c->signals.returns));
}

bool signals_block(struct context *c, uint64_t *was)
{
	uint64_t shut = signal_mask_shut(c);

	sys_signal_mask(SIG_SETMASK, &shut, was);
	c->mask.is_shut = true;
	if (!c->is_held)
		return true;
	signals_release(c, *was);
	return false;
}

/* One that came between both is to come again. */
void signals_release(struct context *c, uint64_t was)
{
	sys_signal_mask(SIG_SETMASK, &was, NULL);
	signal_mask_open(c);
}

void signals_block_all(void)
{
	sys_signal_mask(SIG_BLOCK, &(uint64_t){ ~0ULL }, NULL);
}

static bool is_handler(const struct sys_sigaction *a)
{
	return (uint64_t)a->handler > 1;
}

static bool is_ignored(const struct sys_sigaction *a)
{
	return (uint64_t)a->handler == 1;
}

static bool is_engines(unsigned signal, const struct sys_sigaction *a)
{
	return is_handler(a) || (FAULTS & BIT(signal));
}

/* What is ignored does not end calls. */
static struct sys_sigaction for_kernel(unsigned signal, const struct sys_sigaction *a)
{
	if (!is_engines(signal, a))
		return *a;
	return (struct sys_sigaction){
		.handler = (void *)crossing_signal,
		.flags = (a->flags & KERNELS) | (is_ignored(a) ? SA_RESTART : 0) |
			 (WITHIN & BIT(signal) ? SA_NODEFER : 0) | SA_SIGINFO |
			 SA_ONSTACK | SYS_SA_RESTORER,
		.restorer = signal_restorer,
		.mask = ~WITHIN,
	};
}

void signals_install(const struct context *c)
{
	const struct signal_actions *all = c->signals.actions;

	for (unsigned i = 1; i <= 64; i++) {
		struct sys_sigaction a = for_kernel(i, &all->of[i]);

		if (is_engines(i, &all->of[i]))
			sys_signal_action((int)i, &a, NULL);
	}
}

void signals_give_back(const struct context *c)
{
	struct signal_actions *all = c->signals.actions;

	for (unsigned i = 1; i <= 64; i++)
		if (is_engines(i, &all->of[i]))
			sys_signal_action((int)i, &all->of[i], NULL);
}

static bool is_lent(unsigned signal, const struct sys_sigaction *a)
{
	return is_engines(signal, a) && is_ignored(a);
}

void signals_lend(const struct context *c)
{
	struct signal_actions *all = c->signals.actions;

	for (unsigned i = 1; i <= 64; i++)
		if (is_lent(i, &all->of[i]))
			sys_signal_action((int)i, &all->of[i], NULL);
}

void signals_end_loan(const struct context *c)
{
	const struct signal_actions *all = c->signals.actions;

	for (unsigned i = 1; i <= 64; i++) {
		struct sys_sigaction a = for_kernel(i, &all->of[i]);

		if (is_lent(i, &all->of[i]))
			sys_signal_action((int)i, &a, NULL);
	}
}

/* Under the lock; *was: what the program knows of. */
static long set_action(struct signal_actions *all, unsigned signal,
		       const struct sys_sigaction *set, struct sys_sigaction *was)
{
	struct sys_sigaction kernels;
	long result;

	if (set)
		kernels = for_kernel(signal, set);
	result = sys_signal_action((int)signal, set ? &kernels : NULL, was);
	if (result < 0)
		return result;
	if (was->handler == (void *)crossing_signal)
		*was = all->of[signal];
	if (set)
		all->of[signal] = *set;
	return 0;
}

long signals_set_action(struct context *c)
{
	const uint64_t *r = c->regs;
	struct signal_actions *all = c->signals.actions;
	struct sys_sigaction set, was;
	uint64_t mask;
	long result;

	if (r[A] - 1 >= 64 || r[D] != sizeof(uint64_t))
		return -EINVAL;
	if (r[B] && !program_memory_read(&set, r[B], sizeof(set)))
		return -EFAULT;
	set.flags &= KNOWN;
	set.mask &= ~NEVER_BLOCKED;
	if (!signals_block(c, &mask))
		return GATE_NOT_MADE;
	spin_lock(&all->lock);
	result = set_action(all, (unsigned)r[A], r[B] ? &set : NULL, &was);
	spin_unlock(&all->lock);
	signals_release(c, mask);
	if (result == 0 && r[C] && !program_memory_write(r[C], &was, sizeof(was)))
		return -EFAULT;
	return result;
}

bool signals_action(struct context *c, unsigned signal, struct sys_sigaction *ret)
{
	struct signal_actions *all = c->signals.actions;

	spin_lock(&all->lock);
	*ret = all->of[signal];
	if (is_handler(ret) && (ret->flags & SA_RESETHAND)) {
		struct sys_sigaction kernels, none = { 0 };

		kernels = for_kernel(signal, &none);
		sys_signal_action((int)signal, &kernels, NULL);
		all->of[signal] = none;
	}
	spin_unlock(&all->lock);
	return is_handler(ret);
}

struct sys_sigaction signals_look(const struct context *c, unsigned signal)
{
	struct signal_actions *all = c->signals.actions;
	struct sys_sigaction a;

	spin_lock(&all->lock);
	a = all->of[signal];
	spin_unlock(&all->lock);
	return a;
}

bool signals_is_on_stack(const struct context *c, uint64_t sp)
{
	const struct signal_stack *s = &c->signals.stack;

	return !(s->flags & SS_AUTODISARM) && sp > s->at && sp - s->at <= s->bytes;
}

static uint32_t stack_flags(const struct context *c)
{
	const struct signal_stack *s = &c->signals.stack;

	if (!s->bytes)
		return SS_DISABLE;
	return (signals_is_on_stack(c, c->regs[RSP]) ? SS_ONSTACK : 0) |
	       (s->flags & SS_AUTODISARM);
}

static long change_stack(struct context *c, const struct signal_stack *set)
{
	uint32_t mode = set->flags & ~SS_AUTODISARM;

	if (signals_is_on_stack(c, c->regs[RSP]))
		return -EPERM;
	if (mode != SS_DISABLE && mode != SS_ONSTACK && mode != 0)
		return -EINVAL;
	if (mode == SS_DISABLE) {
		c->signals.stack = (struct signal_stack){ .flags = set->flags };
		return 0;
	}
	if (set->bytes < LEAST_STACK)
		return -ENOMEM;
	c->signals.stack = *set;
	return 0;
}

long signals_set_stack(struct context *c)
{
	struct signal_stack set, was = c->signals.stack;
	long result = 0;

	was.flags = stack_flags(c);
	if (c->regs[A] && !program_memory_read(&set, c->regs[A], sizeof(set)))
		return -EFAULT;
	if (c->regs[A])
		result = change_stack(c, &set);
	if (result == 0 && c->regs[B] &&
	    !program_memory_write(c->regs[B], &was, sizeof(was)))
		return -EFAULT;
	return result;
}

void signals_restore_stack(struct context *c, const struct signal_stack *s)
{
	change_stack(c, s);
}

void signals_disarm_stack(struct context *c)
{
	if (c->signals.stack.flags & SS_AUTODISARM)
		c->signals.stack = (struct signal_stack){ .flags = SS_DISABLE };
}
