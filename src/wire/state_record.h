/* SPDX-License-Identifier: Apache-2.0
 *
 * state_record - what the kernel's side of the states of threads tells the collector.
 *
 * Every moment of a thread is in one state.  Times are summed by thread, or by class of
 * processes, state and stack: what a sum is of is told once, as a stack_record whose key
 * is the number of the sum and whose event is the state; the collector takes the times
 * from where they are summed.
 *
 * Sums are of generations, of which there are two at most: when many sums are in use the
 * collector begins the next one, has every thread go on with sums of that
 * (STACK_RECORD_AGAIN), and clears the sums of the one before.
 *
 * Freestanding; shared with BPF programs.
 */
#ifndef DWELL_WIRE_STATE_RECORD_H
#define DWELL_WIRE_STATE_RECORD_H

#include <stdint.h>

enum state_record_state {
	STATE_RECORD_USER,
	STATE_RECORD_SYSTEM,
	STATE_RECORD_WAIT_CPU,
	STATE_RECORD_LOCK,
	STATE_RECORD_TEXT_FAULT,
	STATE_RECORD_DATA_FAULT,
	STATE_RECORD_OTHER_FAULT,
	STATE_RECORD_SLEEP,
	STATE_RECORD_IO,
	STATE_RECORD_STOPPED,
	STATE_RECORD_OTHER,
	STATE_RECORD_TAKEN, /* by the hypervisor and, where the kernel tells, interrupts
			     */
	STATE_RECORD_UNACCOUNTED,
	STATE_RECORD_N_STATES,
	/* What a pair of a waiter's and a waker's stack is counted as. */
	STATE_RECORD_WAKEUPS = STATE_RECORD_N_STATES,
	STATE_RECORD_LATENCY, /* from waking to running */
	STATE_RECORD_WOKEN,   /* waited, until woken */
	STATE_RECORD_N_EVENTS,
	/* What the stack of a waker is told as. */
	STATE_RECORD_WAKER = STATE_RECORD_N_EVENTS,
	STATE_RECORD_INTERRUPT, /* that interrupted any thread */
};

/* Numbers of system calls are below. */
#define STATE_RECORD_CALLS_MAX 512

/* Of a sum's number: its slot, of which each generation has a half, and its generation,
 * modulo their number.  A half's first slot is of no sum. */
#define STATE_RECORD_SLOT_BITS		18
#define STATE_RECORD_SUMS_MAX		(1u << STATE_RECORD_SLOT_BITS)
#define STATE_RECORD_HALF		(STATE_RECORD_SUMS_MAX / 2)
#define STATE_RECORD_GENERATIONS	(1u << (32 - STATE_RECORD_SLOT_BITS))
#define STATE_RECORD_SLOT(number)	((number) & (STATE_RECORD_SUMS_MAX - 1))
#define STATE_RECORD_GENERATION(number) ((uint32_t)(number) >> STATE_RECORD_SLOT_BITS)
#define STATE_RECORD_NUMBER(generation, i)                                               \
	((uint32_t)(generation) << STATE_RECORD_SLOT_BITS |                              \
	 (((generation)&1) * STATE_RECORD_HALF + (i)))

/* Code of the kernel. */
struct state_record_range {
	uint64_t start, end;
};

#define STATE_RECORD_FAULT_RANGES 2

/* Number 0: of what could not be told. */
struct state_record_sum {
	/* In the state, and then waiting for a CPU; of a pair: until woken, and until it
	 * ran. */
	uint64_t ns, wait_ns;
	uint32_t count, n_waits; /* that ended */
	uint64_t key;		 /* of what, in every generation the same */
};

_Static_assert(sizeof(struct state_record_sum) == 32, "layout");

/* Under which a sum's number is found. */
static inline uint64_t state_record_place(uint64_t key, uint32_t generation)
{
	key = (key ^ generation % STATE_RECORD_GENERATIONS) *
	      UINT64_C(0x9e3779b97f4a7c15);
	return key ^ key >> 29;
}

/* Where files are mapped that a program is about to map, or has: in the collector, or
 * there. */
#define STATE_RECORD_FORESEEN_MAX 64

struct state_record_foreseen {
	uint32_t pid, n;
	uint64_t at[STATE_RECORD_FORESEEN_MAX];
};

#endif
