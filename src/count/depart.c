/* SPDX-License-Identifier: Apache-2.0 */
#include "count/depart.h"

#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>

#include "bare/sys.h"
#include "count/call_needs.h"
#include "count/code_change.h"
#include "count/context.h"
#include "count/count_output.h"
#include "count/engine.h"
#include "count/gate.h"
#include "count/link.h"
#include "count/native.h"
#include "count/program_memory.h"
#include "count/signals.h"
#include "count/turnover.h"

/* Registers of a call and its arguments. */
enum { NR = 0, A = 7, B = 6, C = 2 };

_Static_assert(sizeof(struct native_room) <= CONTEXT_HELD_BYTES, "none is held any more");

#define BIT(signal) (1ULL << ((signal)-1))
#define NOWHERE	    (1ULL << 63) /* no address */

const struct sys_sigaction *depart_actions;

static bool is_alone(const struct context *c)
{
	for (const struct context *x = context_newest(); x; x = x->older)
		if (x != c && !x->is_free)
			return false;
	return !c->is_borrowed && !engine.n_sharers;
}

/* What it says of itself is not true: the kernel will say so. */
static bool read_filter(uint64_t at, struct sock_filter *code, size_t *n)
{
	struct sock_fprog p;

	if (!program_memory_read(&p, at, sizeof(p)) || !p.len || p.len > BPF_MAXINSNS)
		return false;
	*n = p.len;
	return program_memory_read(code, (uint64_t)p.filter, p.len * sizeof(*code));
}

static bool is_strict(const uint64_t *r)
{
	return r[NR] == SYS_seccomp ? r[A] == SECCOMP_SET_MODE_STRICT
				    : r[B] == SECCOMP_MODE_STRICT;
}

bool depart_must(const struct context *c)
{
	struct sock_filter code[BPF_MAXINSNS];
	size_t n;

	return is_strict(c->regs) || (read_filter(c->regs[C], code, &n) &&
				      !call_needs_are_met(code, n, !is_alone(c)));
}

bool depart_need_not(const struct context *c)
{
	struct sock_filter code[BPF_MAXINSNS];
	size_t n;

	return !is_strict(c->regs) && read_filter(c->regs[C], code, &n) &&
	       call_needs_are_untouched(code, n);
}

/* The call is its block's last instruction that is counted, though it is made afterwards.
 */
static void note(struct context *c, const struct link *call)
{
	spin_lock(&engine.lock);
	if (!turnover_was(c))
		count_output_add_extra(COUNT_EXTRA_LEAVE, call->addr, call->number,
				       c->nest, 1);
	context_set_call(c, NULL);
	code_change_allow_all();
	count_output_tell_left();
	spin_unlock(&engine.lock);
}

/* What is blocked and comes all the same, as of a fault, ends the process.  One that was
 * sent does not come so: then it is another. */
static void die_of(int signal, const struct signal_info *info, struct signal_state *state)
{
	bool is_of_program = info->code > 0;

	if (!is_of_program)
		state->ip = NOWHERE;
	else if (signal == SIGSYS)
		state->ip -= LINK_SYSCALL_BYTES;
	state->mask |= BIT(is_of_program ? signal : SIGSEGV);
}

void *depart_signal(int signal, const struct signal_info *info,
		    struct signal_state *state)
{
	uint64_t handler = (uint64_t)depart_actions[signal].handler;

	if (handler > (uint64_t)SIG_IGN)
		return (void *)handler;
	if (handler != (uint64_t)SIG_IGN || info->code > 0)
		die_of(signal, info, state);
	return NULL;
}

long depart(struct context *c, const struct link *call)
{
	struct count_control_regs native = { .flags = c->flags,
					     .ip = call->addr - LINK_SYSCALL_BYTES,
					     .gs_base = c->gs_base };
	struct signal_stack stack;
	uint64_t mask = c->begin_mask, told[3]; /* a former filter may hide it */

	if (engine.is_attached || !is_alone(c) || call->kind != LINK_SYSCALL)
		return 0;
	if (!signals_block(c, &mask))
		return GATE_NOT_MADE;
	note(c, call); /* while the engine hears that the file has no room */
	signals_block_all();
	depart_actions = c->signals.actions->of;
	signals_give_back(c);
	memcpy(native.regs, c->regs, sizeof(native.regs));
	signals_tell_stack(c, told);
	memcpy(&stack, told, sizeof(stack));
	native_go(&native, signal_mask_tell(c, mask), &stack,
		  (struct native_room *)((char *)c + CONTEXT_BYTES));
}
