/* SPDX-License-Identifier: Apache-2.0
 *
 * state_record - what the kernel's side of the states of threads tells the collector.
 *
 * Every moment of a thread is in one state.  Times are summed by thread, state and stack:
 * what a sum is of is told once, as a stack_record whose key is the number of the sum and
 * whose event is the state; the collector reads the sums where they are.
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
#define STATE_RECORD_SUMS_MAX  (1u << 18)

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
	uint32_t count, n_waits;
};

_Static_assert(sizeof(struct state_record_sum) == 24, "layout");

#endif
