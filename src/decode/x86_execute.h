/* SPDX-License-Identifier: Apache-2.0
 *
 * x86_execute - what one instruction does to a machine that is known in parts.
 *
 * Of what it does not do itself it makes unknown all that the instruction may change.
 * Freestanding.
 */
#ifndef DWELL_DECODE_X86_EXECUTE_H
#define DWELL_DECODE_X86_EXECUTE_H

#include <stdbool.h>

struct x86_step;

/* Of an instruction that goes on to the next (X86_FLOW_ON).  False: nobody knows what
 * happens here. */
bool x86_execute(struct x86_step *s);

#endif
