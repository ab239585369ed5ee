/* SPDX-License-Identifier: Apache-2.0
 *
 * gate - the program's system calls.
 *
 * Most are the kernel's business alone; the others change what is executed, or how.
 */
#ifndef DWELL_COUNT_GATE_H
#define DWELL_COUNT_GATE_H

#include <stdbool.h>

#include "wire/count_control.h"

struct context;
struct link;

/* In place of a call's result: a signal comes first.  The kernel has it for the same
 * (ERESTARTSYS), and shows it to nobody. */
#define GATE_NOT_MADE COUNT_CONTROL_NOT_MADE
/* The same, and the kernel knows how much of it is left (ERESTART_RESTARTBLOCK). */
#define GATE_NOT_FINISHED COUNT_CONTROL_NOT_FINISHED

/* The kernel's own answer to the call in the registers. */
long gate_pass(const struct context *c);

/* Makes the call that the registers ask for at the link, and puts its result there;
 * false: a signal comes first. */
bool gate_call(struct context *c, const struct link *l);

#endif
