/* SPDX-License-Identifier: Apache-2.0 */
#include "count/thread.h"

#include <linux/sched.h>
#include <string.h>

#include "bare/sys.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/engine.h"
#include "count/gate.h"
#include "count/link.h"
#include "count/nest.h"
#include "count/place.h"
#include "count/signals.h"
#include "count/single_step.h"
#include "count/translate.h"
#include "count/turnover.h"

enum {
	RAX = 0,
	RCX = 1,
	RDX = 2,
	RSP = 4,
	RSI = 6,
	RDI = 7,
	R8 = 8,
	R9 = 9,
	R10 = 10,
	R11 = 11
};

/* A call in the form that it is made again, without a stack: children begin in the engine
 * and take theirs from there. */
struct request {
	uint64_t number, args[5];
	uint64_t flags, stack; /* 0: the caller's */
	struct clone_args longer;
};

long crossing_clone(uint64_t number, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
		    uint64_t e, struct context *child);
_Noreturn void crossing_end(struct context *c, uint64_t is_free, uint64_t code);
const void *thread_begin(struct context *c);

/* False: the kernel is to say what is wrong with it. */
static bool read_longer(struct request *r, const uint64_t *regs)
{
	if (regs[RSI] < CLONE_ARGS_SIZE_VER0 || regs[RSI] > sizeof(r->longer))
		return false;
	memcpy(&r->longer, (const void *)regs[RDI], regs[RSI]);
	r->flags = r->longer.flags;
	r->stack = r->longer.stack ? r->longer.stack + r->longer.stack_size : 0;
	r->longer.stack = r->longer.stack_size = 0;
	r->args[0] = (uint64_t)&r->longer;
	r->args[1] = regs[RSI];
	return true;
}

static bool read_request(struct request *r, const uint64_t *regs)
{
	*r = (struct request){ .number = regs[RAX] };
	switch (regs[RAX]) {
	case SYS_clone3:
		return read_longer(r, regs);
	case SYS_clone:
		r->flags = regs[RDI];
		r->stack = regs[RSI];
		r->args[0] = r->flags;
		r->args[2] = regs[RDX];
		r->args[3] = regs[R10];
		r->args[4] = regs[R8];
		return true;
	default:
		r->number = SYS_clone;
		r->flags = regs[RAX] == SYS_vfork ? CLONE_VFORK | CLONE_VM : 0;
		r->args[0] = r->flags | SIGCHLD;
		return true;
	}
}

static void set_registers(struct context *c, const struct request *r,
			  const struct link *call)
{
	c->regs[RAX] = 0;
	c->resume = call->addr;
	if (call->kind == LINK_SYSCALL) {
		c->regs[RCX] = call->addr;
		c->regs[R11] = c->flags;
	}
	if (r->stack)
		c->regs[RSP] = r->stack;
}

/* The call does not come back, and somebody else will have the context. */
static void note_end(struct context *c, const struct link *call)
{
	spin_lock(&engine.lock);
	if (!turnover_was(c))
		count_output_add_extra(COUNT_EXTRA_LEAVE, call->addr, call->number,
				       c->nest, 1);
	context_set_call(c, NULL);
	spin_unlock(&engine.lock);
}

/* Locks are held, so that no other thread has them where none will be. */
static long fork_child(struct context *c, const struct request *r,
		       const struct link *call)
{
	struct count_file_header before;
	long result;

	spin_lock(&engine.lock);
	spin_lock(&c->signals.actions->lock);
	count_output_before_fork(&before);
	result = sys_call(r->number, r->args[0], r->args[1], r->args[2], r->args[3],
			  r->args[4], 0);
	if (result < 0)
		count_output_fail_to_fork();
	if (result == 0) {
		context_keep_only(c, &before);
		engine.is_turning = false;
		engine.n_sharers = engine.n_confining = 0;
		signals_forget_returns(c);
		count_output_add_extra(COUNT_EXTRA_ENTER, call->addr, 0, c->nest, 1);
		set_registers(c, r, call);
	}
	spin_unlock(&c->signals.actions->lock);
	spin_unlock(&engine.lock);
	return result;
}

/* It has executed, ended, or never was. */
static void take_back(struct context *child)
{
	if (child->call)
		note_end(child, child->call);
	__atomic_store_n(&child->is_free, 1, __ATOMIC_RELEASE);
}

/* Shares memory: a thread, or a child that borrows the caller's until it executes. */
static long start_thread(struct context *c, const struct request *r,
			 const struct link *call, uint64_t mask)
{
	struct context *child;
	uint64_t addr = call->addr;
	bool is_sharer = !(r->flags & (CLONE_VFORK | CLONE_THREAD));
	long result;

	spin_lock(&engine.lock);
	engine.n_sharers += is_sharer;
	child = context_take();
	nest_inherit(child, c, !r->stack);
	child->epoch = engine.epoch;
	count_output_add_extra(COUNT_EXTRA_ENTER, addr, 0, child->nest, 1);
	spin_unlock(&engine.lock);
	memcpy(child->regs, c->regs, sizeof(child->regs));
	child->flags = c->flags;
	child->gs_base = c->gs_base;
	child->is_borrowed = !!(r->flags & CLONE_VFORK);
	child->begin_mask = mask;
	single_step_told(child);
	signals_inherit(child, c, !(r->flags & CLONE_SIGHAND), r->flags & CLONE_VFORK);
	set_registers(child, r, call);
	signals_block_all();
	result = crossing_clone(r->number, r->args[0], r->args[1], r->args[2], r->args[3],
				r->args[4], child);
	if (result >= 0 && !(r->flags & CLONE_VFORK))
		return result;
	if (result < 0) {
		spin_lock(&engine.lock);
		engine.n_sharers -= is_sharer;
		count_output_add_extra(COUNT_EXTRA_ENTER, addr, 0, child->nest, -1);
		spin_unlock(&engine.lock);
	}
	take_back(child);
	return result;
}

/* The child's first steps: crossing.S. */
const void *thread_begin(struct context *c)
{
	const void *code;

	c->tid = (uint32_t)sys_gettid();
	signals_begin_thread(c);
	spin_lock(&engine.lock);
	code = translate(place_at(c->nest, c->resume));
	if (turnover_is_due())
		code = turnover_before(c, code);
	spin_unlock(&engine.lock);
	return code;
}

long thread_clone(struct context *c, const struct link *call)
{
	struct request r;
	uint64_t mask;
	long result;

	if (!read_request(&r, c->regs))
		return sys_call(SYS_clone3, c->regs[RDI], c->regs[RSI], 0, 0, 0, 0);
	/* The child cannot take any before it is one of the engine's. */
	if (!signals_block(c, &mask))
		return GATE_NOT_MADE;
	result = r.flags & CLONE_VM ? start_thread(c, &r, call, mask)
				    : fork_child(c, &r, call);
	signals_release(c, mask);
	return result;
}

void thread_end(struct context *c, const struct link *call)
{
	note_end(c, call);
	signals_block_all();
	crossing_end(c, !c->is_borrowed, c->regs[RDI]);
}
