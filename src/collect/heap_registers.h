/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_registers - what the other threads of a process that ends have in their registers:
 * a pointer of a thread that waits may be nowhere else.
 *
 * They stand for some microseconds, and go on as if nothing had been.  Where they have to
 * wait for a CPU to stop on it is tried again, by and by.
 */
#ifndef DWELL_COLLECT_HEAP_REGISTERS_H
#define DWELL_COLLECT_HEAP_REGISTERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"
#include "base/vec.h"

/* Zero-initialise. */
struct heap_registers {
	uint64_t until_ns; /* it is tried again; 0: it has not been tried */
	VEC(uint64_t) words;
};

/* Nothing, where there are no others, or they may not be stopped.  tid: who ends it.
 * False: not yet, call it again. */
must_use bool heap_registers_read(struct heap_registers *r, pid_t pid, pid_t tid);
void heap_registers_fini(struct heap_registers *r);

#endif
