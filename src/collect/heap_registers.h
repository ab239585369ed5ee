/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_registers - what the other threads of a process that ends have in their registers:
 * a pointer of a thread that waits may be nowhere else.
 *
 * They stand for some microseconds, and go on as if nothing had been.
 */
#ifndef DWELL_COLLECT_HEAP_REGISTERS_H
#define DWELL_COLLECT_HEAP_REGISTERS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/vec.h"

struct heap_registers {
	VEC(uint64_t) words;
};

/* Nothing, where there are no others, or they may not be stopped.  tid: who ends it. */
void heap_registers_read(struct heap_registers *r, pid_t pid, pid_t tid);
void heap_registers_fini(struct heap_registers *r);

#endif
