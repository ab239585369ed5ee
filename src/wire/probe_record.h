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

/* Of what a tracepoint tells. */
struct probe_record_field {
	uint32_t offset, size; /* size 0: none */
	uint32_t is_signed;
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
