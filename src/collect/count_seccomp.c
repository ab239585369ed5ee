/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/count_seccomp.h"

#include <asm/prctl.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "decode/seccomp_filter.h"
#include "host/procfs.h"
#include "host/syscall_name.h"

#ifndef MADV_POPULATE_WRITE /* kernel 5.14 */
#define MADV_POPULATE_WRITE 23
#endif
#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

#define ANY	0x470000000000ULL
#define MEMORY	(PROT_READ | PROT_WRITE)
#define CODE	(PROT_READ | PROT_EXEC)
#define MINE	(MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)
#define SHARED	(MAP_SHARED | MAP_NORESERVE | MAP_FIXED)
#define NO_FILE UINT64_MAX
#define CREATE	(O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC)
#define HERE	((uint32_t)AT_FDCWD)
#define SOME	1    /* a process, a thread, a file: whichever */
#define LONGEST 4096 /* as the kernel has it */

/* What the engine asks the kernel for, when it comes, while it counts and when it goes;
 * an optional call may fail, but nobody may die of it. */
static const struct needed {
	uint32_t number;
	bool is_optional;
	uint64_t args[6];
} unmap_needed = { SYS_munmap, false, { ANY, ANY } }, all_needed[] = {
	{ SYS_munmap, false, { ANY, ANY } },
	{ SYS_mmap, false, { ANY, ANY, MEMORY, MINE, NO_FILE } },
	{ SYS_mmap, false, { ANY, ANY, MEMORY | PROT_EXEC, MINE, NO_FILE } },
	{ SYS_mmap, false, { ANY, ANY, MEMORY, SHARED, SOME } },
	{ SYS_mprotect, false, { ANY, ANY, CODE } },
	{ SYS_mremap, false, { ANY, ANY, ANY, MREMAP_MAYMOVE | MREMAP_FIXED, ANY } },
	{ SYS_madvise, true, { ANY, ANY, MADV_RANDOM } },
	{ SYS_madvise, true, { ANY, ANY, MADV_HUGEPAGE } },
	{ SYS_madvise, true, { ANY, ANY, MADV_POPULATE_WRITE } },
	{ SYS_madvise, false, { ANY, ANY, MADV_DONTNEED } },
	{ SYS_openat, false, { HERE, ANY, CREATE, 0600 } },
	{ SYS_ftruncate, false, { SOME, ANY } },
	{ SYS_close, false, { SOME } },
	{ SYS_getpid, false, { 0 } },
	{ SYS_getppid, false, { 0 } },
	{ SYS_gettid, false, { 0 } },
	{ SYS_sched_yield, false, { 0 } },
	{ SYS_nanosleep, false, { ANY } },
	{ SYS_arch_prctl, false, { ARCH_SET_GS, ANY } },
	{ SYS_rt_sigaction, false, { SIGUSR1, ANY, ANY, sizeof(uint64_t) } },
	{ SYS_rt_sigprocmask, false, { SIG_SETMASK, ANY, ANY, sizeof(uint64_t) } },
	{ SYS_rt_sigreturn, false, { 0 } },
	{ SYS_rt_tgsigqueueinfo, false, { SOME, SOME, SIGUSR1, ANY } },
	{ SYS_sigaltstack, false, { ANY, ANY } },
	/* where the program maps code, or executes another */
	{ SYS_openat, true, { HERE, ANY, O_RDONLY | O_CLOEXEC } },
	{ SYS_faccessat2, true, { SOME, ANY, X_OK } },
	{ SYS_readlinkat, true, { HERE, ANY, ANY, LONGEST } },
	{ SYS_read, true, { SOME, ANY, LONGEST } },
	{ SYS_fgetxattr, true, { SOME, ANY, ANY, LONGEST } },
	{ SYS_stat, true, { ANY, ANY } },
	{ SYS_fstat, true, { SOME, ANY } },
	{ SYS_fcntl, true, { SOME, F_GETFL } },
	{ SYS_prlimit64, true, { 0, RLIMIT_FSIZE, ANY, ANY } },
	{ SYS_process_vm_readv, true, { SOME, ANY, 1, ANY, 1 } },
	{ SYS_process_vm_writev, true, { SOME, ANY, 1, ANY, 1 } },
};

struct filters {
	struct sock_filter *code;
	pid_t tid;
	const struct needed *needed;
	size_t n_needed;
};

static void filters_fini(struct filters *f)
{
	free(f->code);
}

/* SECCOMP_MODE_*.  With filters if nothing is known: a kernel without
 * CONFIG_CHECKPOINT_RESTORE shows none of them. */
static int mode_of(pid_t tid)
{
	static const char name[] = "\nSeccomp:\t";
	char text[PROCFS_STATUS_BYTES];
	const char *at;

	if (procfs_status(tid, text, NULL) < 0)
		return SECCOMP_MODE_FILTER;
	at = strstr(text, name);
	return at ? at[sizeof(name) - 1] - '0' : SECCOMP_MODE_DISABLED;
}

/* The filter set so many before the last; 0: there is none, -1: it is not shown. */
static long read_filter(struct filters *f, unsigned long back)
{
	long n = ptrace(PTRACE_SECCOMP_GET_FILTER, f->tid, back, NULL);

	if (n < 0)
		return back && errno == ENOENT ? 0 : -1;
	if (n > LONGEST)
		return -1;
	f->code = xrealloc(f->code, (size_t)n, sizeof(*f->code));
	return ptrace(PTRACE_SECCOMP_GET_FILTER, f->tid, back, f->code);
}

static bool may_be_made(const struct needed *c, uint32_t said)
{
	switch (said & SECCOMP_RET_ACTION_FULL) {
	case SECCOMP_RET_ALLOW:
	case SECCOMP_RET_LOG:
		return true;
	case SECCOMP_RET_ERRNO:
		return c->is_optional;
	default:
		return false;
	}
}

static int try_call(const struct filters *f, size_t n, const struct needed *c,
		    struct err *e)
{
	struct seccomp_data call = { .nr = (int)c->number,
				     .arch = AUDIT_ARCH_X86_64,
				     .instruction_pointer = ANY };
	const char *name = syscall_name(c->number, false);
	bool is_of_code = c->args[2] & PROT_EXEC;
	uint32_t said;

	for (unsigned i = 0; i < 6; i++)
		call.args[i] = c->args[i];
	if (seccomp_filter_run(f->code, n, &call, &said) && may_be_made(c, said))
		return 0;
	return err_set(e, ERR_UNSUPPORTED,
		       "it has forbidden itself (seccomp) what the engine needs: %s%s",
		       name ? name : "a call", is_of_code ? " of code" : "");
}

static int try_all(const struct filters *f, size_t n, struct err *e)
{
	int rc = 0;

	for (size_t i = 0; i < f->n_needed && rc == 0; i++)
		rc = try_call(f, n, &f->needed[i], e);
	return rc;
}

static int try_filters(struct filters *f, struct err *e)
{
	int rc = 0;

	for (unsigned long back = 0; rc == 0; back++) {
		long n = read_filter(f, back);

		if (n == 0)
			return 0;
		if (n < 0)
			return err_set(
				e, ERR_UNSUPPORTED,
				"it has forbidden itself system calls (seccomp), and "
				"only root may see which");
		rc = try_all(f, (size_t)n, e);
	}
	return rc;
}

static int check(pid_t tid, const struct needed *needed, size_t n, struct err *e)
{
	own(filters_fini) struct filters f = { .tid = tid,
					       .needed = needed,
					       .n_needed = n };

	switch (mode_of(tid)) {
	case SECCOMP_MODE_DISABLED:
		return 0;
	case SECCOMP_MODE_STRICT:
		return err_set(e, ERR_UNSUPPORTED,
			       "it has forbidden itself all system calls (seccomp)");
	default:
		return try_filters(&f, e);
	}
}

int count_seccomp_check(pid_t tid, struct err *e)
{
	return check(tid, all_needed, sizeof(all_needed) / sizeof(all_needed[0]), e);
}

int count_seccomp_check_unmap(pid_t tid, struct err *e)
{
	return check(tid, &unmap_needed, 1, e);
}
