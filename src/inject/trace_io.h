/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_io - calls that read and write, as the wrappers in trace_io_calls.c see them.
 */
#ifndef DWELL_INJECT_TRACE_IO_H
#define DWELL_INJECT_TRACE_IO_H

#include <stdint.h>

#include "wire/tracer_io.h"

/* All arguments are words, as is what is returned. */
typedef long trace_io_fn(long a, long b, long c, long d, long e, long f);

/* What a call returns; one that fails returns -1 and sets errno, but where it says else.
 */
enum trace_io_result {
	TRACE_IO_INT,
	TRACE_IO_SIZE,
	TRACE_IO_ERROR, /* an error's number, or 0 */
	TRACE_IO_NOTHING,
};

struct trace_io_call {
	trace_io_fn *make;
	long arguments[6];
	uint8_t call;	       /* enum wire_tracer_io_call */
	uint8_t result;	       /* enum trace_io_result */
	const uint64_t *frame; /* of the wrapper */
};

/* Make it and say so; returns what it returned. */
long trace_io_make(const struct trace_io_call *call);
/* Find what the wrappers hide, where that cannot be done from a signal's handler. */
void trace_io_look_up(void);

#endif
