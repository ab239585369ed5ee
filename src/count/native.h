/* SPDX-License-Identifier: Apache-2.0
 *
 * native - a thread goes on in the program's own code, and nothing leads back.
 */
#ifndef DWELL_COUNT_NATIVE_H
#define DWELL_COUNT_NATIVE_H

#include <stdint.h>

#include "count/signals.h"
#include "wire/count_control.h"

/* With all signals blocked.  Registers, signals and their stack are the program's all at
 * once, so that none comes in between; vector registers are as they are. */
_Noreturn void native_go(const struct count_control_regs *regs, uint64_t mask,
			 const struct signal_stack *stack);

#endif
