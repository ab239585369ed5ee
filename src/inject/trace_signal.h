/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_signal - signals that the tracer needs, kept apart from what the program does
 * with the same, and handlers of other signals.
 *
 * The program is told the actions and the mask that it set.  Its handlers are called by
 * one of ours, as the kernel masks floating-point exceptions for them.
 */
#ifndef DWELL_INJECT_TRACE_SIGNAL_H
#define DWELL_INJECT_TRACE_SIGNAL_H

#include <signal.h>
#include <stdbool.h>

typedef void trace_signal_fn(int signal, siginfo_t *info, void *context);

/* SIGFPE or SIGTRAP, from now on. */
void trace_signal_take(int signal, trace_signal_fn *handler);
/* What this thread blocks of them is the program's to know, and not blocked. */
void trace_signal_take_mask(void);
/* The handlers of other signals that a program has that runs already. */
void trace_signal_take_handlers(void);
/* All of them are as the program set them; those were ours. */
void trace_signal_give_back(trace_signal_fn *on_fpe, trace_signal_fn *on_trap);
/* The other handlers once more, as a call that sets one may have been under way. */
void trace_signal_give_back_handlers(void);
/* Those may come though the program was in a handler that blocked them. */
void trace_signal_unblock(void);
/* A handler returns now: what remains of the context on the stack is not to be taken for
 * that of one that runs, which has no link.  The kernel does not look at it. */
void trace_signal_end_context(void *context);
/* By the action that ends the process, now or when the instruction is executed again: not
 * so where the signal comes behind it, as a breakpoint's does. */
void trace_signal_end_by(int signal, bool is_sent);
/* What would have happened without us.  Where the program would end by a signal of its
 * own doing this returns, and it does when the instruction is executed again. */
void trace_signal_pass_on(int signal, siginfo_t *info, void *context);

#endif
