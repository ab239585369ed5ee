/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_restart.h"

#include <errno.h>
#include <stddef.h>

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
	44,  /* sendto, likewise */
	45,  /* recvfrom */
	46,  /* sendmsg */
	47,  /* recvmsg */
	65,  /* semop */
	128, /* rt_sigtimedwait */
	208, /* io_getevents */
	220, /* semtimedop */
	232, /* epoll_wait */
	281, /* epoll_pwait */
	288, /* accept4 */
	299, /* recvmmsg */
	307, /* sendmmsg */
	333, /* io_pgetevents */
	426, /* io_uring_enter: who has submitted something is told of that */
	441, /* epoll_pwait2 */
};

static bool is_without_effect(int64_t call)
{
	for (size_t i = 0; i < sizeof(without_effect) / sizeof(without_effect[0]); i++)
		if (without_effect[i] == call)
			return true;
	return false;
}

static enum count_control_call kind_of(const struct count_restart *r)
{
	if (r->call < 0)
		return COUNT_CALL_NONE;
	switch (r->result) {
	case -ERESTARTSYS:
		return COUNT_CALL_UNLESS_FLAG;
	case -ERESTARTNOINTR:
		return COUNT_CALL_AGAIN;
	case -ERESTARTNOHAND:
	case -ERESTART_RESTARTBLOCK:
		return COUNT_CALL_ENDS;
	case -EINTR:
		return is_without_effect(r->call) ? COUNT_CALL_ENDS : COUNT_CALL_NONE;
	default:
		return COUNT_CALL_NONE;
	}
}

enum count_control_call count_restart(struct count_restart *r)
{
	enum count_control_call kind = kind_of(r);

	if (kind == COUNT_CALL_NONE)
		return kind;
	r->kernels = r->result == -EINTR ? -ERESTARTNOHAND : r->result;
	r->number = r->call;
	r->result = r->result == -ERESTART_RESTARTBLOCK ? COUNT_RESTART_REST : r->call;
	r->call = -1;
	r->ip -= COUNT_CONTROL_CALL_BYTES;
	return kind;
}
