/* SPDX-License-Identifier: Apache-2.0
 *
 * signal_delivery - from the kernel's call of the engine to the program's handler, and
 * back from there.
 */
#ifndef DWELL_COUNT_SIGNAL_DELIVERY_H
#define DWELL_COUNT_SIGNAL_DELIVERY_H

#include <stdbool.h>

#include "count/signal_frame.h"
#include "wire/count_control.h"

struct context;

/* The engine's handler of all signals that the program handles, by way of
 * crossing_signal, and what it returns by: crossing.S. */
void signal_arrives(int signal, struct signal_info *info, struct signal_state *state);
extern const char crossing_signal[], signal_restorer[];

/* A signal is held that the program handles, and that would have ended the call. */
bool signal_ends_call(struct context *c, enum count_control_call call);

/* The engine is done for the thread, which goes on at c->resume: crossing.S. */
_Noreturn void signal_deliver_held(struct context *c);

#endif
