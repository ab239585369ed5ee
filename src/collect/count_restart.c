/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_restart.h"

#include <errno.h>
#include <stddef.h>

#define SYSCALL_BYTES 2 /* of the instruction */

/* The kernel's own errors, which it shows to nobody but tracers: include/linux/errno.h */
#define ERESTARTSYS	      512
#define ERESTARTNOINTR	      513
#define ERESTARTNOHAND	      514
#define ERESTART_RESTARTBLOCK 516

/* Those that say EINTR after being stopped, having done nothing: signal(7).  By their
 * numbers, for this is of x86-64 wherever it is compiled. */
static const uint16_t without_effect[] = {
	0,   /* read: inotify */
	19,  /* readv */
	43,  /* accept, with a timeout */
	45,  /* recvfrom, likewise */
	47,  /* recvmsg */
	65,  /* semop */
	128, /* rt_sigtimedwait */
	208, /* io_getevents */
	220, /* semtimedop */
	232, /* epoll_wait */
	281, /* epoll_pwait */
	288, /* accept4 */
	333, /* io_pgetevents */
	441, /* epoll_pwait2 */
};

static bool is_without_effect(int64_t call)
{
	for (size_t i = 0; i < sizeof(without_effect) / sizeof(without_effect[0]); i++)
		if (without_effect[i] == call)
			return true;
	return false;
}

bool count_restart(struct count_restart *r)
{
	bool is_again = r->result == -ERESTARTSYS || r->result == -ERESTARTNOINTR ||
			r->result == -ERESTARTNOHAND ||
			(r->result == -EINTR && is_without_effect(r->call));
	bool is_rest = r->result == -ERESTART_RESTARTBLOCK;

	if (r->call < 0 || (!is_again && !is_rest))
		return false;
	r->result = is_again ? r->call : COUNT_RESTART_REST;
	r->call = -1;
	r->ip -= SYSCALL_BYTES;
	return true;
}
