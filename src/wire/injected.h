/* SPDX-License-Identifier: Apache-2.0
 *
 * injected - what the recorder and the library that it puts into a running process say to
 * each other, beside the tracer's directory (wire/sampler.h).
 *
 * The recorder maps the library where nobody else asks for memory, behind it a page with
 * this struct, written while every thread stands, and a stack for the library's entries.
 * An entry gets the struct's address, never returns, and makes system calls once it has
 * said what came of it.
 *
 * Freestanding.
 */
#ifndef DWELL_WIRE_INJECTED_H
#define DWELL_WIRE_INJECTED_H

#include <stdint.h>

#include "wire/sampler.h"

#define WIRE_INJECTED_MAGIC UINT64_C(0x64656a6e496c6477) /* "wdlInjed" */

/* The library's entries: begin tracing, and stop it, by name. */
#define WIRE_INJECTED_BEGIN "dwell_injected_begin"
#define WIRE_INJECTED_END   "dwell_injected_end"

/* Two more: floating-point exceptions are to be observed, or not any more, and the
 * threads are armed, or were, by the recorder; and where both find struct
 * wire_injected_fpe. */
#define WIRE_INJECTED_ARM    "dwell_injected_arm"
#define WIRE_INJECTED_DISARM "dwell_injected_disarm"
#define WIRE_INJECTED_FPE    "dwell_injected_fpe"

/* Names of the calls that are traced, with the terminator. */
#define WIRE_INJECTED_NAME 32

/* One that the library wraps, and where the program has it; 0: nowhere. */
struct wire_injected_call {
	char name[WIRE_INJECTED_NAME];
	uint64_t address;
};

enum wire_injected_state {
	WIRE_INJECTED_NEW = 0,
	WIRE_INJECTED_READY = 1, /* it traces */
	WIRE_INJECTED_OVER = 2,	 /* it passes all calls on */
	WIRE_INJECTED_FAILED = 3,
};

/* Types of exceptions that the program may have kept unmasked in registers: a bit for
 * each set of them, and each of the x87 unit.  And its own handler of their signal, which
 * is called by the one that stays. */
struct wire_injected_left {
	uint64_t sets, sets_x87;
	uint64_t handler, flags;
};

struct wire_injected {
	uint64_t magic;
	uint64_t library;    /* a checksum of it */
	uint64_t state;	     /* enum wire_injected_state, by the library */
	uint64_t is_patched; /* by the recorder: the program comes by */
	/* Of the recorder, as it sees itself: who else comes asks whether it is there. */
	uint64_t owner_start;
	uint32_t owner_pid;
	int32_t tid_at; /* from a thread's pointer to its id; 0: unknown */
	char directory[WIRE_SAMPLER_DIRECTORY_MAX];
	uint64_t is_empty; /* no thread is in the library: it may unmap what it has */
	/* By the library: of eight bytes of it.  When they are 0 all calls pass. */
	uint64_t switch_at;
	uint64_t n_calls;
	/* The process that it was put into, as the recorder sees it: children have
	 * copies. */
	uint64_t first_pid;
	/* By the library: what the program's marks are to call (include/dwell.h). */
	uint64_t hooks_at;
	/* By the library, for the next that is put there. */
	struct wire_injected_left left;
	/* struct wire_injected_call calls[] */
};

_Static_assert(sizeof(struct wire_injected) == 248, "layout");

#define WIRE_INJECTED_THREADS 32768

/* A thread of the process, as it stands. */
struct wire_injected_thread {
	uint64_t pointer, pc;
	/* What the program has: signals that it blocks, of those that are ours; and types
	 * of exceptions that it unmasked. */
	uint64_t blocked;
	uint32_t allowed;
	int32_t tid; /* as the process sees it */
};

struct wire_injected_fpe {
	/* By the library: what is to be unmasked in each thread, and in its x87 unit. */
	uint32_t types, types_x87;
	uint64_t signals; /* that are ours, a bit for each from 1 on */
	uint32_t is_busy; /* some thread cannot be disarmed as it stands */
	uint32_t n_threads;
	/* struct wire_injected_thread threads[WIRE_INJECTED_THREADS] */
};

_Static_assert(sizeof(struct wire_injected_thread) == 32, "layout");
_Static_assert(sizeof(struct wire_injected_fpe) == 24, "layout");

#endif
