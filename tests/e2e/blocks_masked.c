/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks the signals that an engine would need most, and does all the same what makes it
 * need them; and asks what is blocked in all ways that there are.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

static const int kinds[] = { SIGSEGV, SIGBUS, SIGSYS, SIGUSR1 };
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static volatile sig_atomic_t n_handled, blocked_within, blocked_before;

static int bits_of(const sigset_t *set)
{
	int bits = 0;

	for (unsigned i = 0; i < N_KINDS; i++)
		bits |= sigismember(set, kinds[i]) << i;
	return bits;
}

static sigset_t set_of(int bits)
{
	sigset_t set;

	sigemptyset(&set);
	for (unsigned i = 0; i < N_KINDS; i++)
		if (bits >> i & 1)
			sigaddset(&set, kinds[i]);
	return set;
}

static int blocked(void)
{
	sigset_t set;

	sigprocmask(SIG_SETMASK, NULL, &set);
	return bits_of(&set);
}

static int change(int how, int bits)
{
	sigset_t set = set_of(bits), was;

	sigprocmask(how, &set, &was);
	return bits_of(&was);
}

static int pending(void)
{
	sigset_t set;

	sigpending(&set);
	return bits_of(&set);
}

static void handle(int signal, siginfo_t *info, void *state)
{
	ucontext_t *u = state;

	(void)signal;
	(void)info;
	n_handled++;
	blocked_within = blocked();
	blocked_before = bits_of(&u->uc_sigmask);
}

static void set_handlers(int mask)
{
	struct sigaction a = { .sa_sigaction = handle, .sa_flags = SA_SIGINFO };

	a.sa_mask = set_of(mask);
	for (unsigned i = 0; i < N_KINDS; i++)
		sigaction(kinds[i], &a, NULL);
}

static void say(const char *what)
{
	printf("%s: blocked %x, pending %x, handled %d with %x of %x\n", what, blocked(),
	       pending(), n_handled, blocked_within, blocked_before);
	fflush(stdout);
}

static void masks_are_told(void)
{
	int was = change(SIG_BLOCK, 1), more = change(SIG_BLOCK, 2 | 8),
	    less = change(SIG_UNBLOCK, 1 | 8), set = change(SIG_SETMASK, 4 | 1);

	printf("%x %x %x %x %x\n", was, more, less, set, blocked());
	change(SIG_SETMASK, 0);
}

/* By what each is told of. */
static void wait_for(int kind, int how)
{
	int bit = 1 << kind, fd;
	sigset_t set = set_of(bit), none = set_of(0);
	struct timespec soon = { 0, 100000000 };
	struct signalfd_siginfo told = { 0 };
	struct epoll_event event;

	change(SIG_SETMASK, bit);
	if (how & 1)
		kill(getpid(), kinds[kind]);
	else
		raise(kinds[kind]);
	say("sent");
	switch (how >> 1) {
	case 0:
		change(SIG_SETMASK, 0);
		break;
	case 1:
		printf("waited %d\n", sigtimedwait(&set, NULL, &soon) == kinds[kind]);
		break;
	case 2:
		fd = signalfd(-1, &set, 0);
		printf("read %d\n", read(fd, &told, sizeof(told)) == sizeof(told) &&
					    (int)told.ssi_signo == kinds[kind]);
		close(fd);
		break;
	case 3:
		printf("suspended %d\n", sigsuspend(&none) == -1 && errno == EINTR);
		break;
	case 4:
		printf("polled %d\n",
		       ppoll(NULL, 0, &soon, &none) == -1 && errno == EINTR);
		break;
	case 5:
		printf("selected %d\n",
		       pselect(0, NULL, NULL, NULL, &soon, &none) == -1 &&
			       errno == EINTR);
		break;
	default:
		fd = epoll_create1(0);
		printf("epolled %d\n",
		       epoll_pwait(fd, &event, 1, 100, &none) == -1 && errno == EINTR);
		close(fd);
	}
	say("waited for");
	change(SIG_SETMASK, 0);
}

typedef int number(void);

/* Changes its own code, on a page that is written and executed. */
static int by_changes(void)
{
	static const uint8_t code[] = { 0xb8, 0, 0, 0, 0, 0xc3 }; /* mov $n, %eax; ret */
	uint8_t *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int sum = 0;

	memcpy(at, code, sizeof(code));
	for (int i = 0; i < 20; i++) {
		number *f;

		at[1] = (uint8_t)i;
		memcpy(&f, &at, sizeof(f));
		sum += f();
	}
	munmap(at, 4096);
	return sum;
}

static void *in_thread(void *unused)
{
	printf("thread: %x %d\n", blocked(), by_changes());
	(void)unused;
	return NULL;
}

/* What its end is when it does that. */
static void child(const char *name, void (*what)(void))
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		what();
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("%s: %d %d\n", name, WIFEXITED(status) ? WEXITSTATUS(status) : -1,
	       WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

static int *volatile nowhere;

static void fault(void)
{
	*nowhere = 1;
}

static void fault_blocked(void)
{
	change(SIG_BLOCK, 1);
	fault();
}

static void fault_again(int signal)
{
	(void)signal;
	fault();
}

static void fault_twice(void)
{
	signal(SIGSEGV, fault_again);
	fault();
}

static void forbid(void)
{
	struct sock_filter lines[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_readlinkat, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog filter = { sizeof(lines) / sizeof(lines[0]), lines };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter))
		_exit(77);
}

/* The engine asks for the file's name, which is trapped. */
static void map_filtered(void)
{
	int fd = syscall(SYS_open, "/proc/self/exe", 0);

	forbid();
	change(SIG_SETMASK, 15);
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	printf("mapped, %d\n", by_changes());
}

static void call_filtered(void)
{
	forbid();
	change(SIG_BLOCK, 4);
	syscall(SYS_getsid, 0);
}

static void tell(void)
{
	printf("child: %x\n", blocked());
}

static void execute(void)
{
	change(SIG_SETMASK, 1 | 4 | 8);
	raise(SIGSEGV);
	execl("/proc/self/exe", "blocks_masked", "executed", NULL);
}

int main(int argc, char **argv)
{
	pthread_t t;

	(void)argv;
	if (argc > 1) {
		say("executed");
		return 0;
	}
	set_handlers(2);
	masks_are_told();
	for (int kind = 0; kind < (int)N_KINDS; kind++)
		for (int how = 0; how < 14; how++)
			wait_for(kind, how);
	raise(SIGBUS);
	say("raised");
	change(SIG_SETMASK, 15);
	printf("changed: %d\n", by_changes());
	pthread_create(&t, NULL, in_thread, NULL);
	pthread_join(t, NULL);
	child("told", tell);
	change(SIG_SETMASK, 0);
	child("blocked", fault_blocked);
	child("twice", fault_twice);
	child("mapped", map_filtered);
	child("called", call_filtered);
	child("executed", execute);
	return 0;
}
