/* SPDX-License-Identifier: Apache-2.0
 *
 * native - a thread goes on in the program's own code, and nothing leads back.
 */
#ifndef DWELL_COUNT_NATIVE_H
#define DWELL_COUNT_NATIVE_H

#include <stdint.h>

#include "count/signal_frame.h"
#include "wire/count_control.h"

/* Not on the stack for signals that the thread has until then: the kernel does not change
 * that of a thread that is on it. */
struct native_room {
	_Alignas(64) uint8_t xstate[8192];
	struct signal_state state;
};

/* With all signals blocked.  Registers, signals and their stack are the program's all at
 * once, so that none comes in between; vector registers are as they are. */
_Noreturn void native_go(const struct count_control_regs *regs, uint64_t mask,
			 const struct signal_stack *stack, struct native_room *room);

#endif
