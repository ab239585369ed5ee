/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/pipe_write.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>

#include "bare/sys.h"

#define SIGPIPE_BIT (UINT64_C(1) << (SIGPIPE - 1))

long pipe_write(int fd, const void *data, size_t size)
{
	const struct timespec at_once = { 0 };
	uint64_t bit = SIGPIPE_BIT, mask = 0, pending = 0;
	long n;

	sys_signal_mask(SIG_BLOCK, &bit, &mask);
	sys_call(SYS_rt_sigpending, &pending, sizeof(pending), 0, 0, 0, 0);
	n = sys_call(SYS_write, fd, data, size, 0, 0, 0);
	/* Ours is taken back, but not one that the program waited with. */
	if (n == -EPIPE && !(pending & SIGPIPE_BIT))
		sys_call(SYS_rt_sigtimedwait, &bit, NULL, &at_once, sizeof(bit), 0, 0);
	sys_signal_mask(SIG_SETMASK, &mask, NULL);
	return n;
}
