/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/stack_room.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>

#include "bare/sys.h"

#define PAGE_BYTES 4096
#define NO_HOW	   (-1) /* a way to change the mask that there is not */

/* The kernel reads a set there before it refuses the call; a stack that grows does so
 * meanwhile. */
static bool is_readable(uintptr_t at)
{
	return sys_call(SYS_rt_sigprocmask, NO_HOW, at, NULL, sizeof(uint64_t), 0, 0) !=
	       -EFAULT;
}

/* What lies below a handler's may be anything. */
static bool is_below_alternate(uintptr_t at)
{
	stack_t s = { .ss_flags = 0 };

	return sys_call(SYS_sigaltstack, NULL, &s, 0, 0, 0, 0) == 0 &&
	       s.ss_flags & SS_ONSTACK && at < (uintptr_t)s.ss_sp;
}

__attribute__((noinline)) bool stack_room_is(size_t bytes)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0) & ~UINT64_C(7);

	if (bytes > here || is_below_alternate(here - bytes))
		return false;
	for (size_t below = PAGE_BYTES; below < bytes; below += PAGE_BYTES)
		if (!is_readable(here - below))
			return false;
	return is_readable(here - bytes);
}
