/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_forward - the walk over x86-64 code.
 *
 * Registers have the instruction set's numbers, flags are rflags.  Freestanding.
 */
#ifndef DWELL_DECODE_X86_FORWARD_H
#define DWELL_DECODE_X86_FORWARD_H

#include "decode/forward.h"

/* That code may go by. */
#define X86_FORWARD_FLAGS 0xcd5u

forward_fn x86_forward;

#endif
