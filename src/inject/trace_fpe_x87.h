/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_fpe_x87 - instructions of the x87 unit, made again.
 *
 * An exception of that unit is told at its next instruction.  The one that raised it has
 * changed nothing, and the state has its address and its operand's: so it is made again
 * on the state that the signal has saved.
 */
#ifndef DWELL_INJECT_TRACE_FPE_X87_H
#define DWELL_INJECT_TRACE_FPE_X87_H
#if defined(__x86_64__)

#include <stdbool.h>
#include <ucontext.h>

/* The signal's; *ret_raised: what the instruction raised, as flags, which are cleared as
 * far as they are told.  False: there is no such instruction. */
bool trace_fpe_x87_again(const ucontext_t *uc, unsigned told, unsigned *ret_raised);

#endif
#endif
