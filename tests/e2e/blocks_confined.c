/* SPDX-License-Identifier: Apache-2.0
 *
 * Forbids itself nearly everything while it has a timer, a stack for its handler, blocked
 * signals and values in vector registers, and tells by what is left what became of them.
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define END_CODE      7
#define STACK_BYTES   0x10000
#define SIGNAL_BIT(n) (1ULL << ((n)-1))
#define ALL_CALLS     0x7fff0000u
#define KILL_ALL      0x80000000u
#define FAIL_ALL      0x00050001u
#define SPINS_MAX     2000000000u

#define CALL	  BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define SAY(k)	  BPF_STMT(BPF_RET | BPF_K, k)
#define OF(nr, k) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), SAY(k)

/* What any program needs that does nothing any more. */
#define FEW                                                                              \
	OF(SYS_read, ALL_CALLS), OF(SYS_write, ALL_CALLS),                               \
		OF(SYS_exit_group, ALL_CALLS), OF(SYS_rt_sigreturn, ALL_CALLS)

static struct sock_filter few[] = { CALL, FEW, SAY(KILL_ALL) };

/* What libraries do not call for threads and children, and the engine does. */
static struct sock_filter unneeded[] = {
	CALL,
	OF(SYS_sched_yield, KILL_ALL),
	OF(SYS_sigaltstack, KILL_ALL),
	OF(SYS_getppid, KILL_ALL),
	SAY(ALL_CALLS),
};

/* Set before one of those. */
static struct sock_filter actions[] = { CALL, OF(SYS_rt_sigaction, FAIL_ALL),
					SAY(ALL_CALLS) };
static struct sock_filter bases[] = { CALL, OF(SYS_arch_prctl, FAIL_ALL),
				      SAY(ALL_CALLS) };

/* Others fail, that for memory included, without which nothing can be translated. */
static struct sock_filter failing[] = { CALL, FEW, SAY(FAIL_ALL) };

#define FILTER(of)                                                                       \
	{                                                                                \
		sizeof(of) / sizeof((of)[0]), of                                         \
	}

static struct sock_fprog filters[] = { FILTER(few), FILTER(unneeded), FILTER(failing) };
static struct sock_fprog former[] = { FILTER(actions), FILTER(bases) };

static char stack[STACK_BYTES];
static volatile sig_atomic_t n_handled, is_on_stack, has_mask;

static void handle(int signal, siginfo_t *info, void *state)
{
	char here;
	uint64_t mask;

	(void)signal;
	(void)info;
	memcpy(&mask, &((ucontext_t *)state)->uc_sigmask, sizeof(mask));
	is_on_stack = &here >= stack && &here < stack + sizeof(stack);
	has_mask = mask == (SIGNAL_BIT(SIGUSR1) | SIGNAL_BIT(SIGSEGV));
	n_handled++;
}

static __attribute__((noinline)) void prepare(void)
{
	struct sigaction action = { .sa_sigaction = handle,
				    .sa_flags = SA_ONSTACK | SA_SIGINFO };
	stack_t own = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };
	sigset_t set;

	sigaltstack(&own, NULL);
	sigaction(SIGVTALRM, &action, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGSEGV);
	sigprocmask(SIG_SETMASK, &set, NULL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	setitimer(ITIMER_VIRTUAL, &often, NULL);
}

/* The call, and whether registers were kept that the kernel does not touch. */
static int forbid(long mode, const void *filter)
{
	static const uint64_t pattern[4] = { 0x0123456789abcdef, ~0ULL, 42,
					     0xf0e1d2c3b4a59687 };
	uint64_t seen[4] = { 0 };
	register long what __asm__("rdi") = PR_SET_SECCOMP;
	register long how __asm__("rsi") = mode;
	register const void *by __asm__("rdx") = filter;
	long result = SYS_prctl;

	if (__builtin_cpu_supports("avx")) {
		__asm__ volatile("vmovdqu %[p], %%ymm9\n\tsyscall\n\t"
				 "vmovdqu %%ymm9, %[s]\n\tvzeroupper"
				 : "+a"(result), [s] "=m"(seen)
				 : "r"(what), "r"(how), "r"(by), [p] "m"(pattern)
				 : "rcx", "r11", "memory", "xmm9");
		return result == 0 && !memcmp(seen, pattern, sizeof(seen));
	}
	__asm__ volatile("movdqu %[p], %%xmm9\n\tsyscall\n\tmovdqu %%xmm9, %[s]"
			 : "+a"(result), [s] "=m"(seen)
			 : "r"(what), "r"(how), "r"(by), [p] "m"(pattern)
			 : "rcx", "r11", "memory", "xmm9");
	return result == 0 && !memcmp(seen, pattern, sizeof(seen) / 2);
}

static __attribute__((noinline)) void say(int kept)
{
	char text[] = "handled 0, on its stack 0, mask 0, registers 0\n";

	for (volatile unsigned i = 0; n_handled < 3 && i < SPINS_MAX; i++)
		;
	text[8] = (char)('0' + (n_handled >= 3));
	text[24] = (char)('0' + is_on_stack);
	text[32] = (char)('0' + has_mask);
	text[45] = (char)('0' + kept);
	if (write(1, text, sizeof(text) - 1) < 0)
		syscall(SYS_exit, 1);
}

static void *in_thread(void *x)
{
	return x;
}

static void have_others(void)
{
	pthread_t thread;
	int status = -1;
	pid_t pid;

	if (pthread_create(&thread, NULL, in_thread, NULL) != 0 ||
	    pthread_join(thread, NULL) != 0)
		_exit(1);
	pid = fork();
	if (!pid)
		_exit(0);
	if (waitpid(pid, &status, 0) != pid || status)
		_exit(2);
}

int main(int argc, char **argv)
{
	unsigned which = argc > 1 ? (unsigned)atoi(argv[1]) : 0;

	prepare();
	if (argc > 2 &&
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &former[atoi(argv[2])]) != 0)
		return 1;
	if (!which || which > sizeof(filters) / sizeof(filters[0])) {
		say(forbid(SECCOMP_MODE_STRICT, NULL));
		syscall(SYS_exit, END_CODE);
	}
	say(forbid(SECCOMP_MODE_FILTER, &filters[which - 1]));
	if (which == 2)
		have_others();
	if (argc > 3)
		__asm__ volatile("ud2");
	return END_CODE;
}
