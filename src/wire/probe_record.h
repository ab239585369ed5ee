/* SPDX-License-Identifier: Apache-2.0
 *
 * probe_record - what the kernel's side of system calls and triggers tells the collector.
 *
 * Like the states of threads (wire/state_record.h): a sum is of a thread, a stack and
 * what happened there, and is told once as a stack_record; its state is an event and its
 * label what happened.  Of a call the sum's ns is the time in it, its count how often it
 * returned; a pair is of a call's sum and the number of an error with which it returned,
 * and has a count.  Of a trigger the count is how often it was met, ns the sum of the
 * field, and n_waits how often that was below zero, which is not in the sum.
 *
 * Freestanding; shared with BPF programs.
 */
#ifndef DWELL_WIRE_PROBE_RECORD_H
#define DWELL_WIRE_PROBE_RECORD_H

#include <stdint.h>

#define PROBE_RECORD_CALL 0 /* the event of system calls; triggers have those behind */

#define PROBE_RECORD_TRIGGER	  1
#define PROBE_RECORD_TRIGGERS_MAX 8

/* Where a value is. */
enum probe_record_where {
	PROBE_RECORD_NOWHERE,
	PROBE_RECORD_TOLD,     /* at an offset of what a tracepoint tells */
	PROBE_RECORD_REGISTER, /* in a register */
	PROBE_RECORD_MEMORY,   /* at a register, and another times a factor, and an offset
				*/
	PROBE_RECORD_CONSTANT, /* the offset itself */
};

struct probe_record_value {
	int64_t offset;
	uint32_t where, size; /* size: 1, 2, 4 or 8 */
	uint32_t is_signed;
	/* Bytes into the registers as ptrace tells them. */
	uint32_t base, index;
	uint32_t factor;    /* 0: there is no second register */
	uint32_t is_narrow; /* addresses have 32 bits */
};

/* Triggers may have several places each; places have cookies. */
#define PROBE_RECORD_PLACES_MAX 64

struct probe_record_place {
	uint32_t trigger;   /* below PROBE_RECORD_TRIGGERS_MAX */
	uint32_t is_return; /* of a function */
	struct probe_record_value value;
};

/* A label: 1 more than the number of a system call, in 16 bits, and of which kind. */
#define PROBE_RECORD_NUMBER   0xffffu
#define PROBE_RECORD_IS_32BIT 0x10000u
#define PROBE_RECORD_NO_CALL  0xfffeu /* no number that any call has */

#define PROBE_RECORD_ERRNO_MAX 4095
/* The second number of a pair, which is none of a sum. */
#define PROBE_RECORD_ERROR(number)    ((uint64_t)(number) << 32)
#define PROBE_RECORD_ERROR_OF(second) ((uint32_t)((second) >> 32))

#endif
