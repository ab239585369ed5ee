/* SPDX-License-Identifier: Apache-2.0
 *
 * confine - a program that is about to forbid itself system calls (seccomp).
 *
 * Afterwards the engine might be forbidden what it takes to leave, and the program would
 * be ended for it.  So one that the engine came to is left before.
 */
#ifndef DWELL_COUNT_CONFINE_H
#define DWELL_COUNT_CONFINE_H

#include <stdbool.h>

struct context;

/* False: the recorder is here, or a signal, and the call is made later. */
bool confine_may(const struct context *c);

#endif
