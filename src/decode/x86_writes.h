/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_writes - the general registers that an instruction may change.
 *
 * Never too few, for those are what a walk over instructions relies on.  Freestanding.
 */
#ifndef DWELL_DECODE_X86_WRITES_H
#define DWELL_DECODE_X86_WRITES_H

#include <stdint.h>

struct x86_op;

/* Bit i: register i may have another value afterwards. */
uint16_t x86_writes(const struct x86_op *op);

#endif
