/* SPDX-License-Identifier: Apache-2.0
 * Where translated code comes to when it does not know where to go on: crossing.S. */
#include <errno.h>

#include "count/context.h"
#include "count/count_output.h"
#include "count/engine.h"
#include "count/fatal.h"
#include "count/gate.h"
#include "count/indirect.h"
#include "count/link.h"
#include "count/place.h"
#include "count/signal_delivery.h"
#include "count/signal_mask.h"
#include "count/translate.h"
#include "count/turnover.h"

#define RAX 0
#define RCX 1
#define R11 11

const void *dispatch(struct context *c);

static const void *go_on(struct context *c, const struct link *l)
{
	const void *code = translate(place_at(c->nest, l->addr));

	if (l->from)
		link_to(l->from, code);
	return code;
}

/* To the call, which was not made. */
static const void *go_back(const struct context *c, const struct link *l)
{
	uint64_t addr = l->addr - LINK_SYSCALL_BYTES;

	count_output_add_extra(COUNT_EXTRA_LEAVE, addr, l->number, c->nest, 1);
	count_output_add_extra(COUNT_EXTRA_ENTER, addr, 0, c->nest, 1);
	return translate(place_at(c->nest, addr));
}

/* One that the thread was in when the engine came, and for which a signal comes first. */
static bool is_over(struct context *c)
{
	if (!signal_ends_call(c, (enum count_control_call)c->interrupted))
		return false;
	c->regs[RAX] = (uint64_t)-EINTR;
	return true;
}

/* All that was known of the block is gone. */
static const void *come_back(struct context *c, uint64_t addr)
{
	count_output_add_extra(COUNT_EXTRA_ENTER, addr, 0, c->nest, 1);
	return translate(place_at(c->nest, addr));
}

static const void *call_kernel(struct context *c, const struct link *l)
{
	bool is_made, has_turned;

	context_set_call(c, l);
	spin_unlock(&engine.lock);
	is_made = gate_call(c, l) || is_over(c);
	c->interrupted = COUNT_CALL_NONE;
	spin_lock(&engine.lock);
	context_set_call(c, NULL);
	has_turned = turnover_was(c);
	if (!is_made)
		return has_turned ? come_back(c, l->addr - LINK_SYSCALL_BYTES)
				  : go_back(c, l);
	if (l->kind == LINK_SYSCALL) {
		c->regs[RCX] = l->addr;
		c->regs[R11] = c->flags;
	}
	return has_turned ? come_back(c, l->addr) : translate(place_at(c->nest, l->addr));
}

/* It traps there, as it would have done. */
static const void *leave_to_cpu(struct context *c, const struct link *l)
{
	count_output_add_extra(COUNT_EXTRA_LEAVE, l->addr, l->number, c->nest, 1);
	return (const void *)l->addr;
}

/* Where the program does not go otherwise than with a segment of its own. */
static const void *refuse(struct context *c, const struct link *l)
{
	(void)c;
	fatal_at("an instruction that cannot be counted, of the segment gs, at", l->addr);
}

static const void *(*const ways[])(struct context *c, const struct link *l) = {
	[LINK_CODE] = go_on,
	[LINK_SYSCALL] = call_kernel,
	[LINK_INT80] = call_kernel,
	[LINK_RETURN] = indirect_return,
	[LINK_RETURN_MORE] = indirect_return,
	[LINK_SITE] = indirect_go,
	[LINK_PAIR] = indirect_go,
	[LINK_UNWIND_RETURN] = indirect_return,
	[LINK_UNWIND] = indirect_unwind,
	[LINK_NATIVE] = leave_to_cpu,
	[LINK_CANNOT] = refuse,
};

const void *dispatch(struct context *c)
{
	struct link l; /* of its own: the table may be forgotten meanwhile */
	const void *code;

	signal_mask_open(c); /* all handlers have returned */
	spin_lock(&engine.lock);
	l = *link_get((uint32_t)c->exit);
	code = ways[l.kind](c, &l);
	if (turnover_is_due())
		code = turnover_before(c, code);
	spin_unlock(&engine.lock);
	return code;
}
