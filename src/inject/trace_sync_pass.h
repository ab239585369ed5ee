/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_sync_pass - calls that take or give back what nobody waits for: they go on to the
 * C library's by a jump, without a frame of ours.
 *
 * A mutex of a process with one thread nobody else can have, unless it is shared with
 * another: glibc takes it without an atomic instruction then, but where it only tries.
 * That memory which the kernel clears in a forked child leads to whether there is one
 * thread makes its first lock be told of.
 */
#ifndef DWELL_INJECT_TRACE_SYNC_PASS_H
#define DWELL_INJECT_TRACE_SYNC_PASS_H

#define TRACE_SYNC_HIDDEN __attribute__((visibility("hidden")))

typedef int trace_sync_fn(long a, long b, long c, long d);

#define TRACE_SYNC_CALL(name)		TRACE_SYNC_##name
#define HELPS(name)			TRACE_SYNC_CALL(name),
#define WAITS(name, n, what, try, busy) TRACE_SYNC_CALL(name),
#define LOCKS(name, n, try, busy)	TRACE_SYNC_CALL(name),
#define GIVES_AND_WAITS(name, what)	TRACE_SYNC_CALL(name),
#define ENDS(name)			TRACE_SYNC_CALL(name),
#define RELEASES(name)			TRACE_SYNC_CALL(name),
enum trace_sync_call {
	TRACE_SYNC_NONE,
#include "inject/trace_sync_calls.def"
	TRACE_SYNC_N_CALLS,
};
#undef HELPS
#undef WAITS
#undef LOCKS
#undef GIVES_AND_WAITS
#undef ENDS
#undef RELEASES

/* Where what passes goes on, of LOCKS and RELEASES: the C library's call from when it is
 * known, before ours. */
TRACE_SYNC_HIDDEN extern trace_sync_fn *trace_sync_pass[TRACE_SYNC_N_CALLS];

/* At what is not 0 while mutexes pass that are not shared; NULL: they do not. */
TRACE_SYNC_HIDDEN extern const char *const *trace_sync_passing;

/* What does not pass, in inject/trace_sync_calls.  They are jumped to: their caller is
 * the wrapper's. */
#define HELPS(name)
#define WAITS(name, n, what, try, busy)
#define LOCKS(name, n, try, busy) TRACE_SYNC_HIDDEN trace_sync_fn trace_sync_##name;
#define GIVES_AND_WAITS(name, what)
#define ENDS(name)
#define RELEASES(name) TRACE_SYNC_HIDDEN trace_sync_fn trace_sync_##name;
#include "inject/trace_sync_calls.def"
#undef HELPS
#undef WAITS
#undef LOCKS
#undef GIVES_AND_WAITS
#undef ENDS
#undef RELEASES

#endif
