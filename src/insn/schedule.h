/* SPDX-License-Identifier: Apache-2.0
 *
 * schedule - when a machine would be done with each of a sequence of instructions.
 *
 * An out-of-order processor whose caches hold everything and whose branches are all
 * foreseen: instructions come as many a cycle as there is width, wait for what they read
 * and for a port, and leave in order.  A load waits for the store before it whose address
 * is made in the same way.
 */
#ifndef DWELL_INSN_SCHEDULE_H
#define DWELL_INSN_SCHEDULE_H

#include "insn/machine_model.h"
#include "insn/operation.h"

enum schedule_wait {
#define WAIT(name, text) SCHEDULE_WAIT_##name,
#include "insn/schedule_waits.def"
#undef WAIT
	SCHEDULE_N_WAITS
};

struct schedule;

struct schedule *schedule_new(const struct machine_model *m);
void schedule_free(struct schedule *s);
void schedule_freep(struct schedule **s);
/* Nothing is under way, and nothing was before. */
void schedule_restart(struct schedule *s);
/* Code that is not among the steps has written these registers: nobody waits for what the
 * steps before had in them. */
void schedule_hand_over(struct schedule *s, operation_registers written);
/* The next instruction; is_taken: a jump that goes elsewhere than on.  In which cycle, or
 * part of one, it leaves: never before the one before. */
double schedule_step(struct schedule *s, const struct operation *o, bool is_taken);
/* Adds why the last one left so late, in cycles by enum schedule_wait.  What is left of
 * its time went by as the machine is only so wide. */
void schedule_add_waits(const struct schedule *s, double *waits);
/* How many steps before the last one was whose outcome it waited for, most of its wait;
 * 0: none. */
uint64_t schedule_waited_for(const struct schedule *s);
/* "dependency" */
const char *schedule_wait_text(enum schedule_wait wait);

#endif
