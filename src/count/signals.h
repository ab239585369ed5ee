/* SPDX-License-Identifier: Apache-2.0
 *
 * signals - handlers of the program, executed in translation.
 *
 * For each signal that the program handles the kernel calls the engine.  In translated
 * code the thread is brought to the program's next instruction; there the program's
 * handler begins, with the frame that the kernel would have made.  While the engine is
 * at work for the thread the signal is held, and others are blocked, until it is done.
 * The mask is the kernel's but for what signal_mask.h tells, and so is what waits for a
 * signal.
 */
#ifndef DWELL_COUNT_SIGNALS_H
#define DWELL_COUNT_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

#include "bare/spin.h"
#include "bare/sys.h"

struct context;

/* Handlers that were begun and may return. */
#define SIGNALS_DEPTH 16

struct signal_stack {
	uint64_t at;
	uint32_t flags, pad;
	uint64_t bytes;
};

/* Where a handler's return finds the translation that was interrupted. */
struct signal_return {
	uint64_t frame, addr;
	const uint8_t *code;
	uint32_t block, nest;
};

/* Of processes that have handlers in common. */
struct signal_actions {
	struct spin lock; /* held with signals blocked */
	struct sys_sigaction of[65];
};

/* A thread's. */
struct signals {
	struct signal_stack stack; /* the program's own, bytes 0: none */
	struct signal_actions *actions;
	struct signal_actions own; /* if nobody else's */
	struct signal_return returns[SIGNALS_DEPTH];
	uint32_t n_returns; /* ever */
};

/* The first thread. */
void signals_init(struct context *c);

/* Of a program that had handlers before: what they are, to a thread of it, that the
 * kernel calls the engine for them, and that it calls them again. */
void signals_ask(void);
void signals_take_over(struct context *c);
void signals_install(const struct context *c);
void signals_give_back(const struct context *c);

/* Before the program executes another, which begins with what this one ignores, and when
 * that has failed: what the engine hears and the program ignores is ignored meanwhile. */
void signals_lend(const struct context *c);
void signals_end_loan(const struct context *c);

/* A thread that was the program's alone: on the engine's stack, all signals blocked. */
void signals_join(struct context *c);

/* As the kernel would be told of the program's stack for handlers. */
void signals_tell_stack(const struct context *c, uint64_t ret[3]);

/* A thread that the kernel has made: on the engine's stack, with the signals blocked that
 * it is to have blocked. */
void signals_begin_thread(const struct context *c);

/* The kernel calls the engine for it on the engine's stack. */
void signals_have_stack(const struct context *c);

/* What it begins with; has_handlers: its own, a copy of the parent's. */
void signals_inherit(struct context *child, const struct context *parent,
		     bool has_handlers, bool has_stack);

/* In the child of a fork. */
void signals_forget_returns(struct context *c);

/* None arrives until released.  False: one is held, and the program is to have it before
 * it makes its call. */
bool signals_block(struct context *c, uint64_t *was);
void signals_release(struct context *c, uint64_t was);
/* What the engine itself hears neither: no thread of its own is here any more, or not
 * yet.
 */
void signals_block_all(void);

/* What the program has set for a signal that has come; false: no handler. */
bool signals_action(struct context *c, unsigned signal, struct sys_sigaction *ret);

/* The same, and it stays as it is. */
struct sys_sigaction signals_look(const struct context *c, unsigned signal);

/* The program's stack for handlers. */
bool signals_is_on_stack(const struct context *c, uint64_t sp);
void signals_restore_stack(struct context *c, const struct signal_stack *s);
void signals_disarm_stack(struct context *c);

/* Calls of the program. */
long signals_set_action(struct context *c);
long signals_set_stack(struct context *c);
long signals_return(struct context *c); /* comes back only if it cannot */

#endif
