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

struct trace_fpe_event;

/* Of the instruction at pc; 0: there is none, and none can be made.  event: where this
 * thread has what the instruction raised. */
uintptr_t trace_fpe_copy_of(uintptr_t pc, struct trace_fpe_event *const *event,
			    bool may_map);
/* Is that in one of them? */
bool trace_fpe_copy_has(uintptr_t pc);
/* Nobody is, and nobody comes there any more: their memory goes. */
void trace_fpe_copy_unmap(void);

#endif
