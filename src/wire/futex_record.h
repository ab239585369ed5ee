/* SPDX-License-Identifier: Apache-2.0
 *
 * futex_record - what the kernel's side of waits tells the collector, and what a
 * program's threads tell that side.
 *
 * Like I/O (wire/io_record.h): a sum is of a thread, a stack, how it waits and for which
 * word; its ns is the time in it, its count how often it was over.  A pair is of such a
 * sum and of the stack that woke it, and its ns the time until then.  How long each wait
 * took, or had taken when it was seen no more, is beside a sum, by its number: struct
 * futex_record_more.
 *
 * Freestanding; shared with BPF programs and with what is loaded into others.
 */
#ifndef DWELL_WIRE_FUTEX_RECORD_H
#define DWELL_WIRE_FUTEX_RECORD_H

#include <stdint.h>

#include "wire/io_record.h"

/* What a sum is. */
enum futex_record_event {
	FUTEX_RECORD_WAIT,  /* for whatever it is that the word says */
	FUTEX_RECORD_LOCK,  /* for one whose holder the kernel knows */
	FUTEX_RECORD_WAKER, /* no sum: the stack of who wakes */
};

/* How it waits: a label. */
enum futex_record_how {
	FUTEX_RECORD_NO_HOW,
	FUTEX_RECORD_ONE,      /* until the word changes */
	FUTEX_RECORD_OF_MANY,  /* until one of several does: the first one is told */
	FUTEX_RECORD_INHERITS, /* for a lock that lends its holder a priority */
	FUTEX_RECORD_REQUEUED, /* and then for such a lock */
	FUTEX_RECORD_N_HOWS,
};

/* What a system call is. */
enum futex_record_call {
	FUTEX_RECORD_NO_CALL,
	FUTEX_RECORD_FUTEX, /* its second argument says */
	FUTEX_RECORD_WAITS,
	FUTEX_RECORD_WAITS_MANY, /* its first argument points to them */
	FUTEX_RECORD_WAKES,	 /* or may do so */
	FUTEX_RECORD_RESTARTS, /* the kernel's own: what a signal has interrupted goes on
				*/
};

#define FUTEX_RECORD_CALLS_MAX STATE_RECORD_CALLS_MAX

/* A thread tells where it has the address of the frame in which it waits and will say so
 * itself, or 0: by a call of futex() for that word which wakes nobody.  In which
 * recording it will the fourth and the fifth argument say, which waking has none of: they
 * are the halves of that one's cookie. */
static inline uint32_t futex_record_told_fourth(uint64_t cookie)
{
	return (uint32_t)cookie;
}

static inline uint32_t futex_record_told_fifth(uint64_t cookie)
{
	return (uint32_t)(cookie >> 32);
}

struct futex_record_more {
	uint32_t times[IO_RECORD_TIMES]; /* waits that took so long, in steps of I/O's */
	/* Those that had not ended when their thread did, or the recording. */
	uint32_t n_unfinished;
	uint32_t n_begun_before; /* of these, before the recording had begun */
	uint64_t unfinished_ns;
};

#endif
