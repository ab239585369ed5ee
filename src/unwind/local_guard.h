/* SPDX-License-Identifier: Apache-2.0
 *
 * local_guard - read memory of this process that may not be there.
 *
 * Asks the kernel first, by a system call every program makes: rt_sigprocmask with an
 * impossible `how` reads the set and then refuses.  (process_vm_readv would be the
 * obvious way, but sandboxes kill for it.)  Async-signal-safe.
 */
#ifndef DWELL_UNWIND_LOCAL_GUARD_H
#define DWELL_UNWIND_LOCAL_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/* Walks without tables go to and fro between a stack and some functions. */
#define LOCAL_GUARD_PAGES 8

struct local_guard {
	unsigned n; /* ever found; 0 at first, and the rest need not be set */
	uint64_t pages[LOCAL_GUARD_PAGES]; /* known to be readable, in a circle */
};

/* A stack_memory read(); ctx is a struct local_guard, good for one walk. */
bool local_guard_word(void *ctx, uint64_t addr, uint64_t *ret);

#endif
