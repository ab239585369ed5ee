/* SPDX-License-Identifier: Apache-2.0
 *
 * sys - system calls made directly: they work under every libc and leave errno alone.
 *
 * All return a negative errno on failure.
 */
#ifndef DWELL_BARE_SYS_H
#define DWELL_BARE_SYS_H

#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

#include "bare/sys_arch.h"

/* The kernel's layouts where libc's differ. */
struct sys_sigaction {
	void *handler;
	unsigned long flags;
	const void *restorer;
	uint64_t mask;
};

struct sys_sigevent {
	uint64_t value;
	int signal, notify, tid;
	int pad[11];
};

_Static_assert(sizeof(struct sys_sigevent) == 64, "as the kernel has it");

#define SYS_SA_RESTORER	    0x04000000UL
#define SYS_SIGEV_THREAD_ID 4

#define sys_call(nr, a, b, c, d, e, f)                                                   \
	sys_arch_call((nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e),       \
		      (long)(f))

static inline int sys_open(const char *path, int flags, int mode)
{
	return (int)sys_call(SYS_openat, AT_FDCWD, path, flags, mode, 0, 0);
}

static inline void sys_close(int fd)
{
	sys_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

static inline long sys_read(int fd, void *data, size_t size)
{
	return sys_call(SYS_read, fd, data, size, 0, 0, 0);
}

static inline long sys_readlink(const char *path, char *text, size_t size)
{
	return sys_call(SYS_readlinkat, AT_FDCWD, path, text, size, 0, 0);
}

static inline void sys_unlink(const char *path)
{
	sys_call(SYS_unlinkat, AT_FDCWD, path, 0, 0, 0, 0);
}

static inline int sys_fallocate(int fd, uint64_t size)
{
	return (int)sys_call(SYS_fallocate, fd, 0, 0, size, 0, 0);
}

/* NULL on failure. */
static inline void *sys_map_at(size_t size, int flags, int fd, uint64_t off)
{
	long p = sys_call(SYS_mmap, 0, size, PROT_READ | PROT_WRITE, flags, fd, off);

	return p < 0 && p > -4096 ? NULL : (void *)p;
}

static inline void *sys_map(size_t size, int flags, int fd)
{
	return sys_map_at(size, flags, fd, 0);
}

static inline void sys_unmap(void *p, size_t size)
{
	sys_call(SYS_munmap, p, size, 0, 0, 0, 0);
}

static inline int sys_getpid(void)
{
	return (int)sys_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

static inline int sys_getppid(void)
{
	return (int)sys_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

static inline int sys_gettid(void)
{
	return (int)sys_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

static inline int sys_rlimit(int what, const struct rlimit *set, struct rlimit *get)
{
	return (int)sys_call(SYS_prlimit64, 0, what, set, get, 0, 0);
}

static inline uint64_t sys_clock_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	sys_call(SYS_clock_gettime, clock, &t, 0, 0, 0, 0);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static inline int sys_signal_action(int signal, const struct sys_sigaction *set,
				    struct sys_sigaction *get)
{
	return (int)sys_call(SYS_rt_sigaction, signal, set, get, sizeof(uint64_t), 0, 0);
}

static inline void sys_signal_mask(int how, const uint64_t *set, uint64_t *get)
{
	sys_call(SYS_rt_sigprocmask, how, set, get, sizeof(uint64_t), 0, 0);
}

static inline int sys_timer_create(clockid_t clock, const struct sys_sigevent *event,
				   int *ret)
{
	return (int)sys_call(SYS_timer_create, clock, event, ret, 0, 0, 0);
}

static inline int sys_timer_set(int timer, const struct itimerspec *value)
{
	return (int)sys_call(SYS_timer_settime, timer, 0, value, 0, 0, 0);
}

static inline void sys_timer_delete(int timer)
{
	sys_call(SYS_timer_delete, timer, 0, 0, 0, 0, 0);
}

#endif
