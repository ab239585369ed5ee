/* SPDX-License-Identifier: Apache-2.0 */
#include "count/call_needs.h"

#include <asm/prctl.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "decode/seccomp_filter.h"

#ifndef MADV_POPULATE_WRITE /* kernel 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_openat2
#define SYS_openat2 437
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

#define ANY	 0x470000000000ULL
#define SOME	 1 /* a process, a thread, a file: whichever */
#define PAGE	 4096
#define MEMORY	 (PROT_READ | PROT_WRITE)
#define SHARED	 (MAP_SHARED | MAP_NORESERVE | MAP_FIXED)
#define MINE	 (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define NO_FILE	 UINT64_MAX
#define HERE	 ((uint32_t)AT_FDCWD)
#define MASK	 sizeof(uint64_t)
#define A_THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD)

/* What the program may go on doing, and the engine has to make calls for. */
enum {
	OF_ALL = 1,
	OF_THREADS = 2,
	OF_CHILDREN = 4,
	OF_PROGRAMS = 8, /* that it executes */
	OF_PATHS = 16,
	OF_LIMITS = 32,
	AT_EASE = 64, /* nothing that it could not do without */
	MUST = 128,   /* beside: the engine ends the program where it fails */
};

struct call {
	unsigned of; /* one of those, or for which of them, and whether it must */
	uint32_t number;
	uint64_t args[6];
};

static const struct call programs[] = {
	{ OF_THREADS, SYS_clone, { A_THREAD } },
	{ OF_THREADS | OF_CHILDREN, SYS_clone3, { ANY, SOME } },
	{ OF_CHILDREN, SYS_clone, { SIGCHLD } },
	{ OF_CHILDREN, SYS_fork, { 0 } },
	{ OF_CHILDREN, SYS_vfork, { 0 } },
	{ OF_PROGRAMS, SYS_execve, { ANY, ANY, ANY } },
	{ OF_PROGRAMS, SYS_execveat, { HERE, ANY, ANY, ANY } },
	{ OF_PATHS, SYS_open, { ANY } },
	{ OF_PATHS, SYS_openat, { HERE, ANY } },
	{ OF_PATHS, SYS_openat2, { HERE, ANY, ANY } },
	{ OF_PATHS, SYS_readlink, { ANY, ANY, SOME } },
	{ OF_PATHS, SYS_readlinkat, { HERE, ANY, ANY, SOME } },
	{ OF_LIMITS, SYS_prlimit64, { 0, SOME, ANY, ANY } },
};

#define OF_NEW (OF_CHILDREN | OF_PROGRAMS)

static const struct call engines[] = {
	{ OF_ALL, SYS_rt_sigprocmask, { SIG_SETMASK, ANY, ANY, MASK } },
	{ OF_ALL, SYS_rt_sigprocmask, { SIG_BLOCK, ANY, ANY, MASK } },
	{ OF_ALL, SYS_rt_sigprocmask, { SIG_UNBLOCK, ANY, ANY, MASK } },
	{ OF_ALL, SYS_rt_sigreturn, { 0 } },
	/* tables grow, and code that may be written to is guarded */
	{ OF_ALL | MUST, SYS_mmap, { 0, ANY, MEMORY, MINE, NO_FILE } },
	{ OF_ALL, SYS_munmap, { ANY, ANY } },
	{ OF_ALL, SYS_mprotect, { ANY, PAGE, PROT_READ } },
	{ OF_THREADS, SYS_sched_yield, { 0 } },
	{ OF_THREADS, SYS_nanosleep, { ANY } },
	{ OF_THREADS | MUST, SYS_mmap, { ANY, ANY, MEMORY, MINE | MAP_FIXED, NO_FILE } },
	{ OF_THREADS | OF_CHILDREN, SYS_gettid, { 0 } },
	{ OF_THREADS | OF_NEW, SYS_sigaltstack, { ANY } },
	{ OF_THREADS | OF_NEW, SYS_arch_prctl, { ARCH_SET_GS, ANY } },
	{ OF_NEW | OF_PATHS | OF_LIMITS, SYS_getpid, { 0 } },
	{ OF_NEW, SYS_mmap, { ANY, ANY, MEMORY, MINE | MAP_FIXED, NO_FILE } },
	{ OF_NEW, SYS_mremap, { ANY, ANY, ANY, MREMAP_MAYMOVE | MREMAP_FIXED, ANY } },
	{ OF_NEW, SYS_madvise, { ANY, ANY, MADV_DONTNEED } },
	{ OF_NEW, SYS_getppid, { 0 } },
	{ OF_NEW, SYS_close, { SOME } },
	{ OF_PROGRAMS, SYS_rt_sigaction, { SIGUSR1, ANY, ANY, MASK } },
	{ OF_PROGRAMS, SYS_gettid, { 0 } },
	{ OF_PROGRAMS, SYS_faccessat2, { HERE, ANY, X_OK, AT_EACCESS } },
	{ OF_PROGRAMS, SYS_openat, { HERE, ANY, O_RDONLY | O_CLOEXEC } },
	{ OF_PROGRAMS, SYS_openat, { HERE, ANY, O_RDWR | O_CREAT | O_EXCL, 0600 } },
	{ OF_PROGRAMS, SYS_readlink, { ANY, ANY, PAGE } },
	{ OF_PROGRAMS, SYS_read, { SOME, ANY, PAGE } },
	{ OF_PROGRAMS, SYS_pread64, { SOME, ANY, PAGE } },
	{ OF_PROGRAMS, SYS_fgetxattr, { SOME, ANY, ANY, 0 } },
	{ OF_PROGRAMS, SYS_stat, { ANY, ANY } },
	{ OF_PROGRAMS, SYS_fstat, { SOME, ANY } },
	{ OF_PROGRAMS, SYS_fcntl, { SOME, F_GETFD } },
	{ OF_PROGRAMS, SYS_ftruncate, { SOME, ANY } },
	{ OF_PROGRAMS, SYS_prlimit64, { 0, SOME, ANY, ANY } },
	{ OF_PROGRAMS, SYS_personality, { UINT32_MAX } },
	{ OF_PROGRAMS, SYS_prctl, { PR_GET_SECCOMP } },
	{ OF_PROGRAMS, SYS_prctl, { PR_SET_NAME, ANY } },
	{ OF_PROGRAMS, SYS_prctl, { PR_SET_MM, PR_SET_MM_MAP, ANY } },
	{ AT_EASE, SYS_mmap, { ANY, ANY, MEMORY | PROT_EXEC, MINE, NO_FILE } },
	{ AT_EASE, SYS_mmap, { ANY, ANY, MEMORY, SHARED, SOME } },
	{ AT_EASE, SYS_mprotect, { ANY, PAGE, PROT_READ | PROT_EXEC } },
	{ AT_EASE, SYS_madvise, { ANY, ANY, MADV_RANDOM } },
	{ AT_EASE, SYS_madvise, { ANY, ANY, MADV_HUGEPAGE } },
	{ AT_EASE, SYS_madvise, { ANY, ANY, MADV_POPULATE_WRITE } },
	{ AT_EASE, SYS_rt_tgsigqueueinfo, { SOME, SOME, SIGUSR1, ANY } },
	{ AT_EASE, SYS_rt_sigqueueinfo, { SOME, SIGUSR1, ANY } },
	{ AT_EASE, SYS_process_vm_readv, { SOME, ANY, 1, ANY, 1 } },
	{ AT_EASE, SYS_process_vm_writev, { SOME, ANY, 1, ANY, 1 } },
	{ AT_EASE, SYS_write, { SOME, ANY, 1 } },
	{ AT_EASE, SYS_unlink, { ANY } },
	{ AT_EASE, SYS_fstatfs, { SOME, ANY } },
	{ AT_EASE, SYS_newfstatat, { HERE, ANY, ANY, AT_SYMLINK_NOFOLLOW } },
	{ AT_EASE, SYS_readlinkat, { HERE, ANY, ANY, PAGE } },
	{ AT_EASE, SYS_fcntl, { SOME, F_GETFL } },
	{ AT_EASE, SYS_fcntl, { SOME, F_DUPFD, SOME } },
	{ AT_EASE, SYS_clock_gettime, { CLOCK_MONOTONIC, ANY } },
	{ AT_EASE, SYS_capget, { ANY, ANY } },
	{ AT_EASE, SYS_brk, { 0 } },
};

/* What the filter says of it. */
static uint32_t action_for(const struct sock_filter *code, size_t n, const struct call *c)
{
	struct seccomp_data call = { .nr = (int)c->number,
				     .arch = AUDIT_ARCH_X86_64,
				     .instruction_pointer = ANY };
	uint32_t said;

	for (unsigned i = 0; i < 6; i++)
		call.args[i] = c->args[i];
	return seccomp_filter_run(code, n, &call, &said) ? said & SECCOMP_RET_ACTION_FULL
							 : SECCOMP_RET_KILL_PROCESS;
}

static bool is_untouched(uint32_t action)
{
	return action == SECCOMP_RET_ALLOW || action == SECCOMP_RET_LOG;
}

/* Nobody is asked or told, and the process goes on.  Of what is trapped the engine hears
 * in a handler, which has to return. */
static bool is_met(const struct call *c, uint32_t action, bool returns)
{
	if (is_untouched(action))
		return true;
	return !(c->of & MUST) &&
	       (action == SECCOMP_RET_ERRNO || (action == SECCOMP_RET_TRAP && returns));
}

static bool can_return(const struct sock_filter *code, size_t n)
{
	static const struct call c = { OF_ALL, SYS_rt_sigreturn, { 0 } };

	return is_untouched(action_for(code, n, &c));
}

static unsigned find_uses(const struct sock_filter *code, size_t n)
{
	unsigned uses = OF_ALL;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (is_untouched(action_for(code, n, &programs[i])))
			uses |= programs[i].of;
	return uses;
}

bool call_needs_are_met(const struct sock_filter *code, size_t n, bool has_threads)
{
	unsigned uses = find_uses(code, n) | (has_threads ? OF_THREADS : 0);
	bool returns = can_return(code, n);

	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if ((engines[i].of & uses) &&
		    !is_met(&engines[i], action_for(code, n, &engines[i]), returns))
			return false;
	return true;
}

bool call_needs_are_untouched(const struct sock_filter *code, size_t n)
{
	for (size_t i = 0; i < sizeof(engines) / sizeof(engines[0]); i++)
		if (!is_untouched(action_for(code, n, &engines[i])))
			return false;
	return true;
}
