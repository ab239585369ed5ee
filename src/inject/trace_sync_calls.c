/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_sync_calls - what the tracer wraps to observe waiting.
 *
 * All arguments are words and there are four at most, so one shape does for all; the
 * declarations of the C library are not at hand here.  A lock that is free is taken by
 * the call that does not wait: nothing is told of it, and no clock is read.  The other
 * call returns what that one would have, but that it is busy.  What nobody waits for does
 * not even come by here (inject/trace_sync_pass).
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
#include "inject/trace_sync_pass.h"
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

#define HELPS(name)			[TRACE_SYNC_CALL(name)] = #name,
#define WAITS(name, n, what, try, busy) [TRACE_SYNC_CALL(name)] = #name,
#define LOCKS(name, n, try, busy)	[TRACE_SYNC_CALL(name)] = #name,
#define GIVES_AND_WAITS(name, what)	[TRACE_SYNC_CALL(name)] = #name,
#define ENDS(name)			[TRACE_SYNC_CALL(name)] = #name,
#define RELEASES(name)			[TRACE_SYNC_CALL(name)] = #name,
static const char *const names[TRACE_SYNC_N_CALLS] = {
#include "inject/trace_sync_calls.def"
};
#undef HELPS
#undef WAITS
#undef LOCKS
#undef GIVES_AND_WAITS
#undef ENDS
#undef RELEASES

static trace_sync_fn *next[TRACE_SYNC_N_CALLS];

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

static trace_sync_fn *refusal_of(enum trace_sync_call call)
{
	static const char of_semaphores[] = "sem_";

	return memcmp(names[call], of_semaphores, sizeof(of_semaphores) - 1) == 0
		       ? refuse_semaphore
		       : refuse;
}

static __attribute__((noinline)) trace_sync_fn *look_up(enum trace_sync_call call)
{
	trace_sync_fn *f = (trace_sync_fn *)next_symbol(names[call]);

	if (!f)
		return refusal_of(call);
	__atomic_store_n(&next[call], f, __ATOMIC_RELAXED);
	__atomic_store_n(&trace_sync_pass[call], f, __ATOMIC_RELAXED);
	return f;
}

static inline trace_sync_fn *next_of(enum trace_sync_call call)
{
	trace_sync_fn *f = __atomic_load_n(&next[call], __ATOMIC_RELAXED);

	return __builtin_expect(f != NULL, 1) ? f : look_up(call);
}

void trace_sync_look_up(void)
{
	for (enum trace_sync_call call = TRACE_SYNC_NONE + 1; call < TRACE_SYNC_N_CALLS;
	     call++)
		look_up(call);
}

void trace_sync_let_pass(const char **at)
{
	static const char always = 1;

	*at = trace_runtime.traces & WIRE_TRACER_SYNC ? &__libc_single_threaded : &always;
	__atomic_store_n(&trace_sync_passing, at, __ATOMIC_RELEASE);
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
static inline int try_semaphore(enum trace_sync_call try, long a)
{
	int error = __errno_location ? *__errno_location() : 0;
	int rc;

	next_of(TRACE_SYNC_pthread_testcancel)(0, 0, 0, 0);
	rc = next_of(try)(a, 0, 0, 0);
	if (rc != 0 && __errno_location)
		*__errno_location() = error;
	return rc;
}

/* Does the call that does not wait, if there is one, do?  glibc before 2.34 has locks but
 * not what tries them where its libpthread is not loaded. */
static inline bool has_taken(enum wire_tracer_sync what, enum trace_sync_call try,
			     int busy, long a, int *ret)
{
	if (try == TRACE_SYNC_NONE)
		return false;
	if (what == WIRE_TRACER_SEMAPHORE) {
		*ret = try_semaphore(try, a);
	} else {
		trace_sync_fn *f = next_of(try);

		if (__builtin_expect(f == refuse, 0))
			return false;
		*ret = f(a, 0, 0, 0);
	}
	FORGET_CALL();
	return __builtin_expect(*ret != busy, 1);
}

#define HIDE(name) int trace_sync_##name(long a, long b, long c, long d)
#define WRAP(name)                                                                       \
	EXPORT trace_sync_fn name;                                                       \
	EXPORT int name(long a, long b, long c, long d)

#define HELPS(name)

/* Arguments that there are none of are not kept.  From the first call on it is known what
 * is passed on to. */
#define TAKE(define, name, n, what, try, busy)                                           \
	define(name)                                                                     \
	{                                                                                \
		int rc;                                                                  \
                                                                                         \
		next_of(TRACE_SYNC_CALL(name));                                          \
		b = (n) > 1 ? b : 0;                                                     \
		c = (n) > 2 ? c : 0;                                                     \
		d = (n) > 3 ? d : 0;                                                     \
		if (!trace_runtime_traces(WIRE_TRACER_SYNC)) {                           \
			rc = next_of(TRACE_SYNC_CALL(name))(a, b, c, d);                 \
			FORGET_CALL();                                                   \
			return rc;                                                       \
		}                                                                        \
		if (has_taken(what, TRACE_SYNC_##try, busy, a, &rc))                     \
			return rc;                                                       \
		return wait(a, b, c, d, WAIT_FOR(TRACE_SYNC_CALL(name), what),           \
			    __builtin_frame_address(0));                                 \
	}

#define WAITS(name, n, what, try, busy) TAKE(WRAP, name, n, what, try, busy)
#define LOCKS(name, n, try, busy)	TAKE(HIDE, name, n, WIRE_TRACER_MUTEX, try, busy)

#ifndef DWELL_INJECTED

#define GIVES_AND_WAITS(name, what)                                                      \
	WRAP(name)                                                                       \
	{                                                                                \
		const uint64_t *frame = __builtin_frame_address(0);                      \
                                                                                         \
		if (trace_sync_is_waited_for((uintptr_t)b))                              \
			trace_sync_release((uintptr_t)b, frame);                         \
		return wait(a, b, c, d, WAIT_FOR(TRACE_SYNC_##name, what), frame);       \
	}

#else

/* Who waits there is cancelled there, and unwound by tables that nobody finds of us. */
#define GIVES_AND_WAITS(name, what)                                                      \
	static __attribute__((used))                                                     \
	trace_sync_fn *give_##name(uintptr_t mutex, const uint64_t *frame)               \
	{                                                                                \
		if (trace_sync_is_waited_for(mutex))                                     \
			trace_sync_release(mutex, frame);                                \
		return next_of(TRACE_SYNC_##name);                                       \
	}                                                                                \
	ARCH_PASS_DEFINE(name, give_##name);

#endif

#define ENDS(name) WAITS(name, 4, WIRE_TRACER_JOIN, NONE, 0)

#define RELEASES(name)                                                                   \
	HIDE(name)                                                                       \
	{                                                                                \
		int rc;                                                                  \
                                                                                         \
		(void)b;                                                                 \
		(void)c;                                                                 \
		(void)d;                                                                 \
		if (__builtin_expect(trace_sync_is_waited_for((uintptr_t)a), 0))         \
			trace_sync_release((uintptr_t)a, __builtin_frame_address(0));    \
		rc = next_of(TRACE_SYNC_##name)(a, 0, 0, 0);                             \
		FORGET_CALL();                                                           \
		return rc;                                                               \
	}

#include "inject/trace_sync_calls.def"
