/* SPDX-License-Identifier: Apache-2.0
 *
 * arm_forward - the walk over aarch64 code.
 *
 * Registers are x0 to x30 and the stack pointer, flags are pstate's.  Freestanding.
 */
#ifndef DWELL_DECODE_ARM_FORWARD_H
#define DWELL_DECODE_ARM_FORWARD_H

#include "decode/forward.h"

/* That code may go by. */
#define ARM_FORWARD_FLAGS 0xf0000000u

forward_fn arm_forward;

#endif
