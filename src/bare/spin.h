/* SPDX-License-Identifier: Apache-2.0
 *
 * spin - a lock for short sections that a signal handler may only try.
 */
#ifndef DWELL_BARE_SPIN_H
#define DWELL_BARE_SPIN_H

#include <stdbool.h>

#include "bare/sys.h"

struct spin {
	bool is_held;
};

static inline bool spin_try(struct spin *s)
{
	return !__atomic_test_and_set(&s->is_held, __ATOMIC_ACQUIRE);
}

/* Not from a signal handler: the holder may be what it interrupted. */
static inline void spin_lock(struct spin *s)
{
	while (!spin_try(s))
		sys_call(SYS_sched_yield, 0, 0, 0, 0, 0, 0);
}

static inline void spin_unlock(struct spin *s)
{
	__atomic_clear(&s->is_held, __ATOMIC_RELEASE);
}

#endif
