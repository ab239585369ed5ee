/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_fpe_copy - copies of instructions that raise exceptions, to be executed in place.
 *
 * A copy is followed by code that notes what the instruction raised, unmasks exceptions
 * again and goes on behind the original, with all registers as they are; so an exception
 * takes one signal and not two.  Copies lie in memory of ours near the original, as
 * operands may be relative to it, and are kept for good.
 */
#ifndef DWELL_INJECT_TRACE_FPE_COPY_H
#define DWELL_INJECT_TRACE_FPE_COPY_H

#include <stdbool.h>
#include <stdint.h>

/* Of the instruction at pc; 0: there is none, and none can be made.  slot: how far from
 * the thread pointer the address of the thread's struct trace_fpe_event is. */
uintptr_t trace_fpe_copy_of(uintptr_t pc, int32_t slot, bool may_map);

#endif
