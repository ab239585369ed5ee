/* SPDX-License-Identifier: Apache-2.0
 *
 * victim_sandbox - programs that forbid themselves all system calls but a few.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

/* Only read, write, exit and sigreturn are left. */
static void strict(const char *arg)
{
	int null = open("/dev/null", O_WRONLY);
	static const char text[] = "written from the sandbox\n";

	(void)arg;
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) < 0)
		die("seccomp");
	for (int i = 0; i < 60; i++) {
		spin(1);
		for (int k = 0; k < 2000; k++)
			if (write(null, text, 1) != 1)
				syscall(SYS_exit, 1);
	}
	syscall(SYS_exit, write(1, text, sizeof(text) - 1) > 0 ? 6 : 7);
}

#define ALLOW(nr)                                                                        \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1),                                 \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Just what the deed below needs; the process ends by anything else. */
static const struct sock_filter few_calls[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(SYS_read),
	ALLOW(SYS_write),
	ALLOW(SYS_writev),
	ALLOW(SYS_exit),
	ALLOW(SYS_exit_group),
	ALLOW(SYS_rt_sigreturn),
	ALLOW(SYS_rt_sigprocmask),
	ALLOW(SYS_rt_sigaction),
	ALLOW(SYS_mmap),
	ALLOW(SYS_munmap),
	ALLOW(SYS_mprotect),
	ALLOW(SYS_madvise),
	ALLOW(SYS_brk),
	ALLOW(SYS_futex),
	ALLOW(SYS_clone),
#ifdef SYS_clone3
	ALLOW(SYS_clone3),
#endif
#ifdef SYS_rseq
	ALLOW(SYS_rseq),
#endif
	ALLOW(SYS_set_robust_list),
	ALLOW(SYS_wait4),
#ifdef SYS_fork
	ALLOW(SYS_fork),
#endif
	ALLOW(SYS_getrandom),
	ALLOW(SYS_gettid),
	ALLOW(SYS_set_tid_address),
#ifdef SYS_newfstatat
	ALLOW(SYS_newfstatat),
#endif
	ALLOW(SYS_fstat),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};

static void *in_thread(void *x)
{
	spin(20);
	return x;
}

static void enter_filter(const char *how)
{
	struct sock_fprog program = { sizeof(few_calls) / sizeof(few_calls[0]),
				      (struct sock_filter *)(uintptr_t)few_calls };
	long rc;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		die("prctl");
	if (!strcmp(how, "prctl"))
		rc = prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	else
		rc = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	if (rc < 0)
		die("seccomp");
}

static void filter(const char *how)
{
	pthread_t t;
	int status = 0;
	pid_t pid;

	enter_filter(how);
	spin(30);
	printf("thread %d", pthread_create(&t, NULL, in_thread, NULL));
	printf(" %d\n", pthread_join(t, NULL));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		spin(10);
		_exit(8);
	}
	waitpid(pid, &status, 0);
	printf("child %x\n", status);
}

#define KILL(nr)                                                                         \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (nr), 0, 1),                                 \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* What a simple program has no need of. */
static const struct sock_filter unneeded_calls[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef SYS_statx
	KILL(SYS_statx),
#endif
	KILL(SYS_getsockname),
	KILL(SYS_getpeername),
	KILL(SYS_sigaltstack),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
};

static void write_plainly(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		die("write");
	take_and_wait();
	close(open("/no/such/file", O_RDONLY));
}

/* By a handler, too. */
static void write_on_signal(int signal)
{
	(void)signal;
	write_plainly("handled\n");
}

/* The program has its filter from who starts it. */
static void inherit(const char *text)
{
	struct sock_fprog program = { sizeof(unneeded_calls) / sizeof(unneeded_calls[0]),
				      (struct sock_filter *)(uintptr_t)unneeded_calls };

	if (*text) {
		write_plainly(text);
		signal(SIGUSR1, write_on_signal);
		raise(SIGUSR1);
		return;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		die("seccomp");
	execl("/proc/self/exe", "victim", "seccomp-inherited", "goes on\n", NULL);
	die("execl");
}

const struct deed sandbox_deeds[] = {
	{ "seccomp-inherited", inherit },
	{ "seccomp-strict", strict },
	{ "seccomp-filter", filter },
	{ 0 },
};
