/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/restart.h"

#include <stddef.h>
#include <sys/syscall.h>

#include "inject/arch.h"

/* Calls that can wait and that, interrupted before they did anything, can be made
 * again as they were.  Not connect (it goes on by itself) and not close. */
static const short calls[] = {
#ifdef SYS_poll
	SYS_poll,	   SYS_select,		SYS_epoll_wait,	     SYS_pause,
#endif
	SYS_ppoll,	   SYS_pselect6,	SYS_epoll_pwait,     SYS_epoll_pwait2,
	SYS_nanosleep,	   SYS_clock_nanosleep, SYS_futex,	     SYS_rt_sigtimedwait,
	SYS_rt_sigsuspend, SYS_semop,		SYS_semtimedop,	     SYS_msgrcv,
	SYS_msgsnd,	   SYS_io_getevents,	SYS_io_uring_enter,  SYS_accept,
	SYS_accept4,	   SYS_recvfrom,	SYS_recvmsg,	     SYS_recvmmsg,
	SYS_sendto,	   SYS_sendmsg,		SYS_mq_timedreceive, SYS_mq_timedsend,
};

void restart_interrupted(ucontext_t *uc)
{
	int nr = arch_interrupted(uc);

	for (size_t i = 0; nr >= 0 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i] != nr)
			continue;
		arch_call_again(uc, nr);
		return;
	}
}
