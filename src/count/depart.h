/* SPDX-License-Identifier: Apache-2.0
 *
 * depart - a process goes on natively by itself, for good, before it forbids itself what
 * the engine needs.
 *
 * The engine's memory stays where it is, and nobody uses it; unless a former filter has
 * signal actions fail, so that the kernel goes on calling the engine for signals, which
 * then calls the program's handlers.  While these are executed all signals are blocked,
 * and SA_RESETHAND resets nothing.
 */
#ifndef DWELL_COUNT_DEPART_H
#define DWELL_COUNT_DEPART_H

#include <stdbool.h>

struct context;
struct link;
struct signal_info;
struct signal_state;
struct sys_sigaction;

/* The call in the thread's registers is about to be made, and sets a filter of calls, or
 * allows but four of them: whether the process would be ended for what the engine does.
 */
bool depart_must(const struct context *c);

/* It can do nothing to the engine. */
bool depart_need_not(const struct context *c);

/* From before the call, which it then makes.  Comes back only if it cannot: a signal
 * comes first (GATE_NOT_MADE), or it is none of those that can: others are in it, who
 * would stay, a recorder brought the engine, or the call is of the 32-bit kind (0). */
long depart(struct context *c, const struct link *call);

/* The program's, of one that has departed; NULL: it is there. */
extern const struct sys_sigaction *depart_actions;
/* From the kernel then, on no stack of ours: the program's handler; NULL: it has none,
 * and the process goes on or ends by what the kernel does next. */
void *depart_signal(int signal, const struct signal_info *info,
		    struct signal_state *state);

#endif
