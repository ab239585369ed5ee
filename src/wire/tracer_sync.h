/* SPDX-License-Identifier: Apache-2.0
 *
 * tracer_sync - what the tracer in the target says of threads that wait for each other.
 *
 * Kinds of records are in wire/tracer.h.  A release is written before the lock is free, a
 * wait once it is over: of the releases of a lock that come before a wait of it, the last
 * one is what ended the wait.  What threads wait for just now is beside the records, for
 * waits that do not end.
 *
 * Freestanding.  The recorder trusts nothing it reads here.
 */
#ifndef DWELL_WIRE_TRACER_SYNC_H
#define DWELL_WIRE_TRACER_SYNC_H

#include <stdint.h>

/* What is waited for.  Never renumber. */
enum wire_tracer_sync {
	WIRE_TRACER_MUTEX = 0,
	WIRE_TRACER_RWLOCK_READ = 1,
	WIRE_TRACER_RWLOCK_WRITE = 2,
	WIRE_TRACER_SPIN = 3,
	WIRE_TRACER_CONDITION = 4,
	WIRE_TRACER_SEMAPHORE = 5,
	WIRE_TRACER_BARRIER = 6,
	WIRE_TRACER_JOIN = 7, /* the end of a thread */
	WIRE_TRACER_SYNC_N,
};

/* wire_sampler_control.wait_threshold_ns: six times what a call takes that need not wait.
 */
#define WIRE_TRACER_CALIBRATE UINT64_MAX

struct wire_tracer_sync_start {
	uint64_t call_ns;      /* that a call took which did not wait, 0: not measured */
	uint64_t threshold_ns; /* waits below it are counted in the ring's header only */
};

/* Where in an image an address is, before the first record that names it; the image has
 * been told.  The same one may come again, another image's too. */
struct wire_tracer_place {
	uint64_t address;
	uint64_t code;	 /* where some of the image's code is */
	uint64_t linked; /* the address as it was linked */
};

struct wire_tracer_wait {
	uint64_t time_ns, waited_ns; /* when it was over, and how long it took */
	uint64_t address;	     /* 0: of no one thing */
	uint64_t stack;		     /* id */
	uint32_t what;		     /* enum wire_tracer_sync */
	uint32_t pad;
};

/* In a thread's place behind the header of the ring (wire/sampler.h): what it waits for.
 * The stack, and where the address is, were told before.  A thread that was cancelled or
 * has jumped out of a wait leaves its place as it is. */
struct wire_tracer_waiting {
	uint64_t since_ns;    /* written last; 0: it does not wait */
	uint64_t ring_ns;     /* the ring's start_ns; else its last owner's thread */
	uint64_t observed_ns; /* since when, without pauses */
	uint64_t address;     /* 0: of no one thing */
	uint64_t stack;	      /* id */
	uint32_t tid;
	uint32_t what;	 /* enum wire_tracer_sync */
	uint32_t holder; /* the thread that had it when the wait began; 0: unknown */
	uint32_t pad[3];
};

struct wire_tracer_release {
	uint64_t time_ns;
	uint64_t address;
	uint64_t stack; /* id */
};

_Static_assert(sizeof(struct wire_tracer_sync_start) == 16, "layout");
_Static_assert(sizeof(struct wire_tracer_place) == 24, "layout");
_Static_assert(sizeof(struct wire_tracer_wait) == 40, "layout");
_Static_assert(sizeof(struct wire_tracer_waiting) == 64, "layout");
_Static_assert(sizeof(struct wire_tracer_release) == 24, "layout");

#endif
