/* SPDX-License-Identifier: Apache-2.0
 *
 * Has calls of the system trapped, as browsers' children have it, and answers them
 * itself; among them many that only the engine makes.  What it answers is what it has
 * called.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#ifndef SYS_faccessat2
#define SYS_faccessat2 439
#endif

#define ANSWER 77

static volatile sig_atomic_t n_answered, last;

static void answer(int signal, siginfo_t *info, void *state)
{
	ucontext_t *u = state;

	(void)signal;
	n_answered++;
	last = info->si_syscall;
	u->uc_mcontext.gregs[REG_RAX] = ANSWER;
}

#define CALL	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ARG(n)	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[n]))
#define IS(k)	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, 0, 1)
#define SAY(k)	    BPF_STMT(BPF_RET | BPF_K, k)
#define TRAPS(call) IS(call), SAY(SECCOMP_RET_TRAP)

/* Advice but what threads give when they end. */
static int forbid(void)
{
	struct sock_filter lines[] = {
		CALL,
		TRAPS(SYS_readlinkat),
		TRAPS(SYS_process_vm_readv),
		TRAPS(SYS_process_vm_writev),
		TRAPS(SYS_faccessat2),
		TRAPS(SYS_getsid),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 1, 0),
		SAY(SECCOMP_RET_ALLOW),
		ARG(2),
		IS(MADV_DONTNEED),
		SAY(SECCOMP_RET_ALLOW),
		SAY(SECCOMP_RET_TRAP),
	};
	struct sock_fprog filter = { sizeof(lines) / sizeof(lines[0]), lines };

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static int add(int n)
{
	return n + 1;
}

/* The same function, elsewhere, of the same file. */
static int add_by_copy(int n)
{
	uintptr_t page = (uintptr_t)add & -4096UL, in = (uintptr_t)add & 4095;
	uint8_t *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	int (*copy)(int);

	memcpy(p, (const void *)page, 8192);
	mprotect(p, 8192, PROT_READ | PROT_EXEC);
	copy = (int (*)(int))(void *)(p + in);
	return copy(n);
}

/* Code of a file, of which the engine wants to know the name. */
static int map_file(void)
{
	int fd = open("/proc/self/exe", O_RDONLY);
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

	close(fd);
	return p != MAP_FAILED && p != (void *)ANSWER && !memcmp(p, "\177ELF", 4);
}

/* The engine asks who may execute it. */
static int by_refusal(void)
{
	return execl("/etc/passwd", "passwd", (char *)NULL) == -1 && errno == EACCES;
}

static void *in_thread(void *n)
{
	return (void *)(uintptr_t)add((int)(uintptr_t)n);
}

static int by_thread(int n)
{
	pthread_t t;
	void *result = NULL;

	pthread_create(&t, NULL, in_thread, (void *)(uintptr_t)n);
	pthread_join(t, &result);
	return (int)(uintptr_t)result;
}

static int by_child(int n)
{
	int status = 0;
	pid_t child = fork();

	if (!child)
		_exit(add(n));
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
	struct sigaction action = { .sa_sigaction = answer, .sa_flags = SA_SIGINFO };
	long said;
	int was;

	sigaction(SIGSYS, &action, NULL);
	if (forbid() != 0)
		return 1;
	printf("%d %d %d", map_file(), by_refusal(), add_by_copy(1));
	printf(" %d", by_thread(2));
	printf(" %d", by_child(3));
	was = n_answered;
	said = syscall(SYS_getsid, 0);
	printf(" %ld %d %d\n", said, n_answered - was, last == SYS_getsid);
	return 0;
}
