/* SPDX-License-Identifier: Apache-2.0 */
#include "count/signal_mask.h"

#include <errno.h>
#include <signal.h>

#include "bare/sys.h"
#include "count/context.h"
#include "count/gate.h"
#include "count/program_memory.h"
#include "count/signal_frame.h"

enum { A = 7, B = 6, C = 2, D = 10 };

#define BIT(signal) (1ULL << ((signal)-1))
#define HEARD	    (BIT(SIGSEGV) | BIT(SIGBUS) | BIT(SIGSYS))

uint64_t signal_mask_tell(const struct context *c, uint64_t kernels)
{
	return (kernels & ~HEARD) | c->mask.blocked;
}

uint64_t signal_mask_take(struct context *c, uint64_t programs)
{
	struct signal_mask *m = &c->mask;

	m->now = m->blocked = programs & HEARD;
	m->real &= m->blocked;
	return (programs & ~HEARD) | m->real;
}

uint64_t signal_mask_shut(const struct context *c)
{
	return ~HEARD | c->mask.real;
}

bool signal_mask_blocks(const struct context *c, int signal)
{
	return c->mask.now & BIT(signal);
}

/* To the thread if it was sent to that, or to the process, where another may have it. */
static void send_again(const struct signal_info *info)
{
	uint64_t bit = BIT(info->signal);
	int pid = sys_getpid();

	sys_signal_mask(SIG_BLOCK, &bit, NULL); /* or it would be here at once */
	if (info->code == SI_TKILL)
		sys_call(SYS_rt_tgsigqueueinfo, pid, sys_gettid(), info->signal, info, 0,
			 0);
	else
		sys_call(SYS_rt_sigqueueinfo, pid, info->signal, info, 0, 0, 0);
}

void signal_mask_keep(struct context *c, const struct signal_info *info,
		      struct signal_state *state)
{
	c->mask.real |= BIT(info->signal);
	state->mask |= BIT(info->signal);
	send_again(info);
}

void signal_mask_delay(struct context *c, const struct signal_info *info,
		       struct signal_state *state)
{
	c->mask.delayed |= BIT(info->signal);
	state->mask |= BIT(info->signal);
	send_again(info);
}

void signal_mask_open(struct context *c)
{
	uint64_t delayed;

	c->mask.is_shut = false;
	__atomic_signal_fence(__ATOMIC_SEQ_CST); /* none is delayed any more */
	delayed = c->mask.delayed;
	c->mask.delayed = 0;
	if (delayed)
		sys_signal_mask(SIG_UNBLOCK, &delayed, NULL);
}

static uint64_t changed(uint64_t was, uint64_t how, uint64_t set)
{
	if (how == SIG_BLOCK)
		return was | set;
	return how == SIG_UNBLOCK ? was & ~set : set;
}

/* What was blocked for real, and had a signal waiting, may be so again by now. */
static void take_set(struct context *c, uint64_t how, uint64_t set)
{
	uint64_t let;

	signal_mask_take(c, changed(c->mask.blocked, how, set));
	let = HEARD & ~c->mask.real;
	sys_signal_mask(SIG_UNBLOCK, &let, NULL);
}

long signal_mask_set(struct context *c)
{
	uint64_t *r = c->regs, set_at = r[B], was_at = r[C], set, kernels = 0, was = 0;
	uint64_t programs = c->mask.blocked;
	long result;

	if (r[D] != sizeof(set))
		return gate_pass(c);
	if (set_at && !program_memory_read(&set, set_at, sizeof(set)))
		return -EFAULT;
	if (set_at) {
		kernels = r[A] == SIG_UNBLOCK ? set & ~HEARD
					      : (set & ~HEARD) | (set & c->mask.real);
		r[B] = (uint64_t)&kernels;
	}
	r[C] = (uint64_t)&was;
	result = gate_pass(c);
	r[B] = set_at;
	r[C] = was_at;
	if (result != 0)
		return result;
	if (set_at && ((set | programs) & HEARD))
		take_set(c, r[A], set);
	was = (was & ~HEARD) | programs;
	return was_at && !program_memory_write(was_at, &was, sizeof(was)) ? -EFAULT : 0;
}

void signal_mask_wait(struct context *c, uint64_t mask_at)
{
	uint64_t mask;

	if (c->mask.blocked && mask_at &&
	    program_memory_read(&mask, mask_at, sizeof(mask)))
		c->mask.now = mask & HEARD;
}

void signal_mask_end_wait(struct context *c)
{
	c->mask.now = c->mask.blocked;
}

static void change_loan(const struct context *c, int how)
{
	uint64_t lent = c->mask.blocked & ~c->mask.real;

	if (lent)
		sys_signal_mask(how, &lent, NULL);
}

void signal_mask_lend(const struct context *c)
{
	change_loan(c, SIG_BLOCK);
}

void signal_mask_end_loan(const struct context *c)
{
	change_loan(c, SIG_UNBLOCK);
}
