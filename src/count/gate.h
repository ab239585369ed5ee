/* SPDX-License-Identifier: Apache-2.0
 *
 * gate - the program's system calls.
 *
 * Most are the kernel's business alone; the others change what is executed, or how.
 */
#ifndef DWELL_COUNT_GATE_H
#define DWELL_COUNT_GATE_H

struct context;
struct link;

/* Makes the call that the registers ask for at the link, and puts its result there. */
void gate_call(struct context *c, const struct link *l);

#endif
