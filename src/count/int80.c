/* SPDX-License-Identifier: Apache-2.0 */
#include "count/int80.h"

#include <errno.h>

#include "bare/sys.h"
#include "count/context.h"

enum { RAX, RCX, RDX, RBX, RBP = 5, RSI, RDI, R8, R9, R10 };

#ifndef MAP_32BIT
#define MAP_32BIT 0x40
#endif
#define PAGE_BITS 12

/* Of clone(): its threads' pointer would be the kernel's other kind of segment. */
#define NO_NUMBER 0xffff
#define MMAP2	  192
#define LSEEK	  19
#define WAITPID	  7

long crossing_int80(const struct context *c);

/* Whose arguments, and what they point at, are the same for both. */
static const struct {
	uint16_t number, other;
} same[] = {
	{ 0, SYS_restart_syscall },
	{ 1, SYS_exit },
	{ 2, SYS_fork },
	{ 3, SYS_read },
	{ 4, SYS_write },
	{ 5, SYS_open },
	{ 6, SYS_close },
	{ WAITPID, SYS_wait4 },
	{ 8, SYS_creat },
	{ 9, SYS_link },
	{ 10, SYS_unlink },
	{ 12, SYS_chdir },
	{ 15, SYS_chmod },
	{ LSEEK, SYS_lseek },
	{ 20, SYS_getpid },
	{ 27, SYS_alarm },
	{ 29, SYS_pause },
	{ 33, SYS_access },
	{ 37, SYS_kill },
	{ 38, SYS_rename },
	{ 39, SYS_mkdir },
	{ 40, SYS_rmdir },
	{ 41, SYS_dup },
	{ 42, SYS_pipe },
	{ 45, SYS_brk },
	{ 57, SYS_setpgid },
	{ 60, SYS_umask },
	{ 63, SYS_dup2 },
	{ 64, SYS_getppid },
	{ 65, SYS_getpgrp },
	{ 66, SYS_setsid },
	{ 85, SYS_readlink },
	{ 91, SYS_munmap },
	{ 118, SYS_fsync },
	{ 125, SYS_mprotect },
	{ 133, SYS_fchdir },
	{ 143, SYS_flock },
	{ 158, SYS_sched_yield },
	{ 163, SYS_mremap },
	{ 168, SYS_poll },
	{ 172, SYS_prctl },
	{ 175, SYS_rt_sigprocmask },
	{ 179, SYS_rt_sigsuspend },
	{ 183, SYS_getcwd },
	{ 190, SYS_fork }, /* the same to who only executes or ends */
	{ MMAP2, SYS_mmap },
	{ 199, SYS_getuid },
	{ 200, SYS_getgid },
	{ 201, SYS_geteuid },
	{ 202, SYS_getegid },
	{ 219, SYS_madvise },
	{ 224, SYS_gettid },
	{ 238, SYS_tkill },
	{ 252, SYS_exit_group },
	{ 256, SYS_epoll_wait },
	{ 270, SYS_tgkill },
	{ 295, SYS_openat },
	{ 305, SYS_readlinkat },
	{ 319, SYS_epoll_pwait },
	{ 330, SYS_dup3 },
	{ 331, SYS_pipe2 },
	{ 355, SYS_getrandom },
	{ 356, SYS_memfd_create },
};

/* Handlers of signals, threads and what is executed are the engine's business, and have
 * another form. */
static const uint16_t refused[] = { 48, 67, 119, 120, 173, 174, 186, 354, 384, 386, 435 };

static uint16_t other_of(uint32_t number)
{
	for (unsigned i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (same[i].number == number)
			return same[i].other;
	return NO_NUMBER;
}

static void adapt(uint64_t *r, uint32_t number)
{
	if (number == WAITPID)
		r[R10] = 0;
	if (number == LSEEK)
		r[RSI] = (uint64_t)(int64_t)(int32_t)r[RSI];
	if (number == MMAP2) {
		r[R10] |= MAP_32BIT;
		r[R9] <<= PAGE_BITS;
	}
}

bool int80_translate(uint64_t *r)
{
	uint32_t number = (uint32_t)r[RAX];
	uint32_t a = (uint32_t)r[RBX], b = (uint32_t)r[RCX], c = (uint32_t)r[RDX];
	uint32_t d = (uint32_t)r[RSI], e = (uint32_t)r[RDI], f = (uint32_t)r[RBP];
	uint16_t other = other_of(number);

	if (other == NO_NUMBER)
		return false;
	r[RAX] = other;
	r[RDI] = a;
	r[RSI] = b;
	r[RDX] = c;
	r[R10] = d;
	r[R8] = e;
	r[R9] = f;
	adapt(r, number);
	return true;
}

long int80_call(const struct context *c)
{
	for (unsigned i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (refused[i] == (uint32_t)c->regs[RAX])
			return -ENOSYS;
	return crossing_int80(c);
}
