/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_sync_calls - what the tracer wraps to observe waiting.
 *
 * All arguments are words and there are four at most, so one shape does for all; the
 * declarations of the C library are not at hand here.  A lock that is free is taken by
 * the call that does not wait: nothing is told of it, and no clock is read.  The other
 * call returns what that one would have, but that it is busy.
 *
 * A thread may be cancelled in here: its stack is unwound through the wrappers, which
 * hold nothing then but a count in a table of hints.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "inject/arch.h"
#include "inject/next.h"
#include "inject/trace_runtime.h"
#include "inject/trace_sync.h"
#include "wire/tracer.h"

/* thrd_busy of every C library: <threads.h> would declare what is defined below. */
#define THRD_BUSY 1

#define EXPORT __attribute__((visibility("default")))

/* Whether a thread is within is asked only of what is taken out again. */
#ifdef DWELL_INJECTED
#define FORGET_CALL() arch_forget_call()
#else
#define FORGET_CALL()
#endif

__attribute__((weak)) extern int *__errno_location(void);
/* Of glibc since 2.32: this process has one thread. */
__attribute__((weak)) extern char __libc_single_threaded;

typedef int call_fn(long a, long b, long c, long d);

#define CALL_ID(name)			CALL_##name
#define HELPS(name)			CALL_ID(name),
#define WAITS(name, n, what, try, busy) CALL_ID(name),
#define GIVES_AND_WAITS(name, what)	CALL_ID(name),
#define ENDS(name)			CALL_ID(name),
#define RELEASES(name)			CALL_ID(name),
enum call {
	CALL_NONE,
#include "inject/trace_sync_calls.def"
	N_CALLS,
};
#undef HELPS
#undef WAITS
#undef GIVES_AND_WAITS
#undef ENDS
#undef RELEASES

#define HELPS(name)			[CALL_ID(name)] = #name,
#define WAITS(name, n, what, try, busy) [CALL_ID(name)] = #name,
#define GIVES_AND_WAITS(name, what)	[CALL_ID(name)] = #name,
#define ENDS(name)			[CALL_ID(name)] = #name,
#define RELEASES(name)			[CALL_ID(name)] = #name,
static const char *const names[N_CALLS] = {
#include "inject/trace_sync_calls.def"
};
#undef HELPS
#undef WAITS
#undef GIVES_AND_WAITS
#undef ENDS
#undef RELEASES

static call_fn *next[N_CALLS];

/* No library has it: whoever calls it has found ours only. */
static int refuse(long a, long b, long c, long d)
{
	(void)a;
	(void)b;
	(void)c;
	(void)d;
	return ENOSYS;
}

/* The same of a call that fails by errno. */
static int refuse_semaphore(long a, long b, long c, long d)
{
	if (__errno_location)
		*__errno_location() = refuse(a, b, c, d);
	return -1;
}

static call_fn *refusal_of(enum call call)
{
	static const char of_semaphores[] = "sem_";

	return memcmp(names[call], of_semaphores, sizeof(of_semaphores) - 1) == 0
		       ? refuse_semaphore
		       : refuse;
}

static __attribute__((noinline)) call_fn *look_up(enum call call)
{
	call_fn *f = (call_fn *)next_symbol(names[call]);

	if (!f)
		return refusal_of(call);
	__atomic_store_n(&next[call], f, __ATOMIC_RELAXED);
	return f;
}

static inline call_fn *next_of(enum call call)
{
	call_fn *f = __atomic_load_n(&next[call], __ATOMIC_RELAXED);

	return __builtin_expect(f != NULL, 1) ? f : look_up(call);
}

void trace_sync_look_up(void)
{
	for (enum call call = CALL_NONE + 1; call < N_CALLS; call++)
		look_up(call);
}

/* Both in one word, as there are six registers for arguments. */
#define WAIT_FOR(call, what) ((call) << 8 | (what))

/* Where glibc keeps the thread that has a mutex, or has an rwlock to write: in words of
 * 32 bits (bits/struct_mutex.h, bits/struct_rwlock.h).  Robust mutexes have others than
 * threads there, too. */
#define MUTEX_HOLDER  2
#define RWLOCK_HOLDER 6
#define TID_MAX	      (1 << 22)

static uint32_t holder_of(enum wire_tracer_sync what, long lock)
{
	const uint32_t *words = (const uint32_t *)lock;
	uint32_t holder = 0;

	if (!&__libc_single_threaded)
		return 0;
	if (what == WIRE_TRACER_MUTEX)
		holder = __atomic_load_n(&words[MUTEX_HOLDER], __ATOMIC_RELAXED);
	else if ((what == WIRE_TRACER_RWLOCK_READ || what == WIRE_TRACER_RWLOCK_WRITE) &&
		 sizeof(long) == 8)
		holder = __atomic_load_n(&words[RWLOCK_HOLDER], __ATOMIC_RELAXED);
	return holder < TID_MAX ? holder : 0;
}

static __attribute__((noinline)) int wait(long a, long b, long c, long d,
					  unsigned call_what, const uint64_t *frame)
{
	struct trace_wait w = {
		.what = call_what & 255,
		.address = (call_what & 255) == WIRE_TRACER_JOIN ? 0 : (uintptr_t)a,
		.frame = frame,
		.holder = holder_of(call_what & 255, a),
	};
	bool is_observed = trace_sync_begin(&w);
	int rc = next_of(call_what >> 8)(a, b, c, d);

	if (is_observed)
		trace_sync_end(&w);
	return rc;
}

/* A semaphore's call fails by errno, and is where a thread can be cancelled, be it free
 * or not. */
static inline int try_semaphore(enum call try, long a)
{
	int error = __errno_location ? *__errno_location() : 0;
	int rc;

	next_of(CALL_pthread_testcancel)(0, 0, 0, 0);
	rc = next_of(try)(a, 0, 0, 0);
	if (rc != 0 && __errno_location)
		*__errno_location() = error;
	return rc;
}

/* Nobody else can have the lock, as it is not shared with other processes: glibc takes it
 * without an atomic instruction then, but where it only tries.  The word is where static
 * initialisers have it (bits/struct_mutex.h). */
#define MUTEX_KIND   4
#define MUTEX_SHARED 128

static inline bool is_alone(enum wire_tracer_sync what, long mutex)
{
	return what == WIRE_TRACER_MUTEX && &__libc_single_threaded &&
	       __libc_single_threaded &&
	       !(((const int *)mutex)[MUTEX_KIND] & MUTEX_SHARED);
}

/* Does the call that does not wait, if there is one, do?  glibc before 2.34 has locks but
 * not what tries them where its libpthread is not loaded. */
static inline bool has_taken(enum wire_tracer_sync what, enum call try, int busy, long a,
			     int *ret)
{
	if (try == CALL_NONE)
		return false;
	if (what == WIRE_TRACER_SEMAPHORE) {
		*ret = try_semaphore(try, a);
	} else {
		call_fn *f = next_of(try);

		if (__builtin_expect(f == refuse, 0))
			return false;
		*ret = f(a, 0, 0, 0);
	}
	FORGET_CALL();
	return __builtin_expect(*ret != busy, 1);
}

#define WRAP(name)                                                                       \
	EXPORT int name(long a, long b, long c, long d);                                 \
	EXPORT int name(long a, long b, long c, long d)

#define HELPS(name)

/* Arguments that there are none of are not kept. */
#define WAITS(name, n, what, try, busy)                                                  \
	WRAP(name)                                                                       \
	{                                                                                \
		int rc;                                                                  \
                                                                                         \
		b = (n) > 1 ? b : 0;                                                     \
		c = (n) > 2 ? c : 0;                                                     \
		d = (n) > 3 ? d : 0;                                                     \
		if (!trace_runtime_traces(WIRE_TRACER_SYNC) || is_alone(what, a)) {      \
			rc = next_of(CALL_##name)(a, b, c, d);                           \
			FORGET_CALL();                                                   \
			return rc;                                                       \
		}                                                                        \
		if (has_taken(what, CALL_##try, busy, a, &rc))                           \
			return rc;                                                       \
		return wait(a, b, c, d, WAIT_FOR(CALL_##name, what),                     \
			    __builtin_frame_address(0));                                 \
	}

#ifndef DWELL_INJECTED

#define GIVES_AND_WAITS(name, what)                                                      \
	WRAP(name)                                                                       \
	{                                                                                \
		const uint64_t *frame = __builtin_frame_address(0);                      \
                                                                                         \
		if (trace_sync_is_waited_for((uintptr_t)b))                              \
			trace_sync_release((uintptr_t)b, frame);                         \
		return wait(a, b, c, d, WAIT_FOR(CALL_##name, what), frame);             \
	}

#else

/* Who waits there is cancelled there, and unwound by tables that nobody finds of us. */
#define GIVES_AND_WAITS(name, what)                                                      \
	static __attribute__((used))                                                     \
	call_fn *give_##name(uintptr_t mutex, const uint64_t *frame)                     \
	{                                                                                \
		if (trace_sync_is_waited_for(mutex))                                     \
			trace_sync_release(mutex, frame);                                \
		return next_of(CALL_##name);                                             \
	}                                                                                \
	ARCH_PASS_DEFINE(name, give_##name);

#endif

#define ENDS(name) WAITS(name, 4, WIRE_TRACER_JOIN, NONE, 0)

#define RELEASES(name)                                                                   \
	WRAP(name)                                                                       \
	{                                                                                \
		int rc;                                                                  \
                                                                                         \
		(void)b;                                                                 \
		(void)c;                                                                 \
		(void)d;                                                                 \
		if (__builtin_expect(trace_sync_is_waited_for((uintptr_t)a), 0))         \
			trace_sync_release((uintptr_t)a, __builtin_frame_address(0));    \
		rc = next_of(CALL_##name)(a, 0, 0, 0);                                   \
		FORGET_CALL();                                                           \
		return rc;                                                               \
	}

#include "inject/trace_sync_calls.def"
