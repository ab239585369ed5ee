/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/restart.h"

#include <stddef.h>
#include <string.h>
#include <sys/utsname.h>

#include "bare/sys.h"
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

static bool interrupts_early;

static const char *parse_number(const char *s, unsigned *ret)
{
	for (*ret = 0; *s >= '0' && *s <= '9' && *ret < 10000; s++)
		*ret = *ret * 10 + (unsigned)(*s - '0');
	return s;
}

bool restart_is_early(const char *release)
{
	unsigned major, minor = 0;
	const char *s = parse_number(release, &major);

	if (*s == '.')
		parse_number(s + 1, &minor);
	return major < 5 || (major == 5 && minor < 11);
}

void restart_init(void)
{
	struct utsname name = { 0 };

	interrupts_early = sys_call(SYS_uname, &name, 0, 0, 0, 0, 0) == 0 &&
			   restart_is_early(name.release);
}

void restart_for_other(ucontext_t *uc, unsigned long other_flags)
{
	if (arch_call(uc) == ARCH_CALL_AGAIN && !(other_flags & SA_RESTART))
		arch_call_fail(uc);
}

void restart_alone(ucontext_t *uc)
{
	int nr = arch_call(uc) == ARCH_CALL_INTERRUPTED ? arch_call_number(uc) : -1;

	for (size_t i = 0; nr >= 0 && i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (calls[i] != nr)
			continue;
		arch_call_again(uc, nr);
		return;
	}
}

/* The signal that would have been delivered first without ours; false: none that has
 * a handler. */
static bool find_other(const ucontext_t *uc, int signal, struct sys_sigaction *ret)
{
	uint64_t pending = 0, blocked;

	memcpy(&blocked, &uc->uc_sigmask, sizeof(blocked));
	sys_call(SYS_rt_sigpending, &pending, sizeof(pending), 0, 0, 0, 0);
	pending &= ~blocked & ~(UINT64_C(1) << (signal - 1));
	for (; pending; pending &= pending - 1) {
		if (sys_signal_action(__builtin_ctzll(pending) + 1, NULL, ret) == 0 &&
		    ret->handler != (void *)SIG_DFL && ret->handler != (void *)SIG_IGN)
			return true;
	}
	return false;
}

void restart_settle(ucontext_t *uc, int signal)
{
	struct sys_sigaction other = { 0 };
	enum arch_call call = arch_call(uc);

	if (call == ARCH_CALL_NONE ||
	    (call == ARCH_CALL_INTERRUPTED && !interrupts_early))
		return;
	if (find_other(uc, signal, &other))
		restart_for_other(uc, other.flags);
	else if (interrupts_early)
		restart_alone(uc);
}
