/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_io_calls - what the tracer wraps to observe I/O.
 *
 * All arguments are words, and there are six at most, so one shape does for all: those
 * that there are none of are what happens to be there, and nobody looks at them.  The
 * wrappers have names of their own here, as headers declare those of the symbols.
 *
 * A thread may be cancelled in here: its stack is unwound through the wrappers, which
 * hold nothing.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "inject/next.h"
#include "inject/trace_descriptors.h"
#include "inject/trace_io.h"
#include "inject/trace_runtime.h"
#include "wire/tracer.h"

#define EXPORT __attribute__((visibility("default")))

__attribute__((weak)) extern int *__errno_location(void);

#define IO(symbol, call, result) WRAPPED_##symbol,
#define CHANGES(symbol, what)	 WRAPPED_##symbol,
enum wrapped {
#include "wire/tracer_io_calls.def"
	N_WRAPPED,
};
#undef IO
#undef CHANGES

#define NAME_BYTES 20

#define IO(symbol, call, result) [WRAPPED_##symbol] = #symbol,
#define CHANGES(symbol, what)	 [WRAPPED_##symbol] = #symbol,
static const char names[N_WRAPPED][NAME_BYTES] = {
#include "wire/tracer_io_calls.def"
};
#undef IO
#undef CHANGES

static trace_io_fn *next[N_WRAPPED];

/* No library has it: whoever calls it has found ours only. */
static long refuse(long a, long b, long c, long d, long e, long f)
{
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	(void)e;
	(void)f;
	if (__errno_location)
		*__errno_location() = ENOSYS;
	return -1;
}

/* Where files have always been large there may be one name for both. */
static trace_io_fn *search(const char *name)
{
	trace_io_fn *f = (trace_io_fn *)next_symbol(name);
	char shorter[NAME_BYTES];
	size_t n = 0;

	if (f)
		return f;
	while (name[n] && memcmp(name + n, "64", 2) != 0)
		n++;
	if (!name[n])
		return NULL;
	memcpy(shorter, name, n);
	memcpy(shorter + n, name + n + 2, strlen(name + n + 2) + 1);
	return (trace_io_fn *)next_symbol(shorter);
}

static __attribute__((noinline)) trace_io_fn *look_up(enum wrapped i)
{
	trace_io_fn *f = search(names[i]);

	if (f)
		__atomic_store_n(&next[i], f, __ATOMIC_RELAXED);
	return f ? f : refuse;
}

static inline trace_io_fn *next_of(enum wrapped i)
{
	trace_io_fn *f = __atomic_load_n(&next[i], __ATOMIC_RELAXED);

	return __builtin_expect(f != NULL, 1) ? f : look_up(i);
}

void trace_io_look_up(void)
{
	for (enum wrapped i = 0; i < N_WRAPPED; i++)
		look_up(i);
}

static long change(enum wrapped i, enum trace_descriptor_change what,
		   const long arguments[6])
{
	const long *a = arguments;
	long returned;

	trace_descriptor_change(what, a);
	returned = next_of(i)(a[0], a[1], a[2], a[3], a[4], a[5]);
	trace_descriptor_change(what, a);
	return returned;
}

#define WRAP(symbol)                                                                     \
	EXPORT long wrap_##symbol(long a, long b, long c, long d, long e,                \
				  long f) __asm__(#symbol);                              \
	long wrap_##symbol(long a, long b, long c, long d, long e, long f)

#define CHANGES(symbol, WHAT)                                                            \
	WRAP(symbol)                                                                     \
	{                                                                                \
		return change(WRAPPED_##symbol, TRACE_DESCRIPTOR_##WHAT,                 \
			      (long[]){ a, b, c, d, e, f });                             \
	}

#define IO(symbol, CALL, RESULT)                                                         \
	WRAP(symbol)                                                                     \
	{                                                                                \
		if (!trace_runtime_traces(WIRE_TRACER_IO))                               \
			return next_of(WRAPPED_##symbol)(a, b, c, d, e, f);              \
		return trace_io_make(                                                    \
			&(struct trace_io_call){ .make = next_of(WRAPPED_##symbol),      \
						 .arguments = { a, b, c, d, e, f },      \
						 .call = WIRE_TRACER_IO_OF_##CALL,       \
						 .result = TRACE_IO_##RESULT,            \
						 .frame = __builtin_frame_address(0) }); \
	}
#include "wire/tracer_io_calls.def"
