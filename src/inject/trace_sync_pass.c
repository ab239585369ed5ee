/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/trace_sync_pass.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/trace_sync.h"

#define EXPORT	    __attribute__((visibility("default")))
#define likely(x)   __builtin_expect(x, 1)
#define unlikely(x) __builtin_expect(x, 0)

#define HELPS(name)
#define WAITS(name, n, what, try, busy)
#define LOCKS(name, n, try, busy) [TRACE_SYNC_CALL(name)] = trace_sync_##name,
#define GIVES_AND_WAITS(name, what)
#define ENDS(name)
#define RELEASES(name) [TRACE_SYNC_CALL(name)] = trace_sync_##name,
trace_sync_fn *trace_sync_pass[TRACE_SYNC_N_CALLS] = {
#include "inject/trace_sync_calls.def"
};
#undef LOCKS
#undef RELEASES

static const char *nothing;
const char *const *trace_sync_passing = &nothing;

/* The word is where static initialisers have it (bits/struct_mutex.h). */
#define MUTEX_KIND   4
#define MUTEX_SHARED 128

static inline bool is_passed(long mutex)
{
	const char *const *passing =
		__atomic_load_n(&trace_sync_passing, __ATOMIC_RELAXED);
	const char *does = __atomic_load_n(passing, __ATOMIC_RELAXED);

	return likely(does != NULL) && likely(*does != 0) &&
	       likely(!(((const int *)mutex)[MUTEX_KIND] & MUTEX_SHARED));
}

#define NEXT(name)                                                                       \
	__atomic_load_n(&trace_sync_pass[TRACE_SYNC_CALL(name)], __ATOMIC_RELAXED)

#define WRAP(name)                                                                       \
	EXPORT trace_sync_fn name;                                                       \
	EXPORT int name(long a, long b, long c, long d)

#define LOCKS(name, n, try, busy)                                                        \
	WRAP(name)                                                                       \
	{                                                                                \
		if (is_passed(a))                                                        \
			return NEXT(name)(a, b, c, d);                                   \
		return trace_sync_##name(a, b, c, d);                                    \
	}

#define RELEASES(name)                                                                   \
	WRAP(name)                                                                       \
	{                                                                                \
		if (unlikely(trace_sync_is_waited_for((uintptr_t)a)))                    \
			return trace_sync_##name(a, b, c, d);                            \
		return NEXT(name)(a, b, c, d);                                           \
	}

#include "inject/trace_sync_calls.def"
