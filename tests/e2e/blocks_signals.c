/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals in all the ways in which programs have them.  Says what it saw, which is the
 * same each time, natively or not.
 *
 *	usage: blocks_signals NAME|NUMBER...	(NUMBER: so many signals in a storm)
 */
#include <errno.h>
#include <fenv.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static volatile sig_atomic_t n_seen;
static volatile double sink;

static void handle(int signal, void (*f)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a = { .sa_sigaction = f, .sa_flags = SA_SIGINFO | flags };

	if (sigaction(signal, &a, NULL) != 0)
		abort();
}

static void count(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	n_seen++;
}

/* Interrupted everywhere, it gives what it gives. */
NOINLINE static unsigned long work(unsigned n)
{
	unsigned long x = 88172645463325252UL, sum = 0;
	double f = 1;

	for (unsigned i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		switch (x % 5) {
		case 0:
			sum += x;
			break;
		case 1:
			sum ^= x >> 3;
			break;
		case 2:
			f = f * 1.0000001 + 1e-9;
			break;
		case 3:
			sum -= (unsigned long)(f * 3);
			break;
		default:
			sum = sum << 1 | sum >> 63;
		}
	}
	sink = f;
	return sum;
}

static void stir(int signal, siginfo_t *info, void *context)
{
	static double f;

	count(signal, info, context);
	f = f * 0.5 + (double)n_seen;
	sink = f;
	fesetround(FE_UPWARD); /* ends with the handler */
	errno = 0;
}

static void timer(void)
{
	struct itimerval every = { { 0, 50 }, { 0, 50 } }, never = { 0 };

	handle(SIGALRM, stir, SA_RESTART);
	setitimer(ITIMER_REAL, &every, NULL);
	for (int i = 0; i < 20; i++)
		printf("%lx\n", work(200000));
	while (n_seen < 500)
		work(1000);
	setitimer(ITIMER_REAL, &never, NULL);
	printf("rounding %d\n", fegetround() == FE_TONEAREST);
}

static sigjmp_buf back;

static void leap(int signal, siginfo_t *info, void *context)
{
	(void)context;
	n_seen++;
	siglongjmp(back, signal * 100 + (info->si_code > 0));
}

static char *page;

static void faults_left(void)
{
	handle(SIGSEGV, leap, SA_ONSTACK);
	handle(SIGFPE, leap, 0);
	handle(SIGILL, leap, 0);
	handle(SIGTRAP, leap, 0);
	handle(SIGBUS, leap, 0);
	for (volatile int i = 0; i < 1000; i++) {
		volatile int zero = 0;
		int why = sigsetjmp(back, 1);

		if (why == 0 && i % 4 == 0)
			page[i] = 1;
		else if (why == 0 && i % 4 == 1)
			sink = 1 / zero;
		else if (why == 0 && i % 4 == 2)
			__asm__ volatile("ud2");
		else if (why == 0)
			__asm__ volatile("int3");
		if (i < 8)
			printf("%d\n", why);
	}
	printf("%d\n", (int)n_seen);
}

static void allow(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)signal;
	n_seen++;
	if (info->si_addr != page || u->uc_mcontext.gregs[REG_CR2] != (long)page)
		abort();
	mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void faults_mended(void)
{
	handle(SIGSEGV, allow, 0);
	for (int i = 0; i < 1000; i++) {
		mprotect(page, 4096, PROT_NONE);
		page[0] += 3;
	}
	printf("%d %d\n", page[0], (int)n_seen);
}

extern const char divide_at[], divide_end[];

static void skip(int signal, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void)signal;
	n_seen++;
	if (info->si_addr != divide_at ||
	    u->uc_mcontext.gregs[REG_RIP] != (long)divide_at ||
	    u->uc_mcontext.gregs[REG_RBX] != 77)
		abort();
	u->uc_mcontext.gregs[REG_RIP] = (long)divide_end;
	u->uc_mcontext.gregs[REG_RAX] = 12;
}

static void context(void)
{
	long sum = 0;

	handle(SIGFPE, skip, 0);
	for (int i = 0; i < 100; i++) {
		long a = 1, d = 0, b = 77;

		__asm__ volatile(".globl divide_at, divide_end\n"
				 "divide_at: idivq %[zero]\n"
				 "divide_end:"
				 : "+a"(a), "+d"(d), "+b"(b)
				 : [zero] "r"(0L)
				 : "cc");
		sum += a;
	}
	printf("%ld %d\n", sum, (int)n_seen);
}

static int order[16];

static void note(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)context;
	order[n_seen++ % 16] = info->si_value.sival_int;
}

static void queued(void)
{
	sigset_t set, was;

	handle(SIGRTMIN + 3, note, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 3);
	sigprocmask(SIG_BLOCK, &set, &was);
	for (int i = 0; i < 10; i++)
		sigqueue(getpid(), SIGRTMIN + 3, (union sigval){ .sival_int = i });
	printf("%d\n", (int)n_seen);
	sigprocmask(SIG_SETMASK, &was, NULL);
	for (int i = 0; i < n_seen; i++)
		printf("%d ", order[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigqueue(getpid(), SIGRTMIN + 3, (union sigval){ .sival_int = 42 });
	siginfo_t info;
	int got = sigwaitinfo(&set, &info);

	printf("wait %d %d\n", got == SIGRTMIN + 3, info.si_value.sival_int);
}

static void masks(int signal, siginfo_t *info, void *context)
{
	sigset_t now;
	stack_t stack;

	(void)info;
	sigprocmask(SIG_SETMASK, NULL, &now);
	sigaltstack(NULL, &stack);
	printf("in %d: itself %d usr2 %d term %d, before usr2 %d, stack %d\n", signal,
	       sigismember(&now, signal), sigismember(&now, SIGUSR2),
	       sigismember(&now, SIGTERM),
	       sigismember(&((ucontext_t *)context)->uc_sigmask, SIGUSR2),
	       stack.ss_flags);
	if (n_seen++ == 0 && signal == SIGUSR1)
		raise(SIGUSR2);
}

static void settings(void)
{
	static char memory[65536];
	struct sigaction a = { .sa_sigaction = masks, .sa_flags = SA_SIGINFO }, was;
	stack_t stack = { .ss_sp = memory, .ss_size = sizeof(memory) }, old;

	sigaltstack(&stack, &old);
	printf("%d\n", old.ss_flags);
	sigaddset(&a.sa_mask, SIGTERM);
	sigaction(SIGUSR1, &a, NULL);
	a.sa_flags |= SA_ONSTACK | SA_NODEFER;
	sigaction(SIGUSR2, &a, &was);
	printf("%d\n", was.sa_handler == SIG_DFL);
	raise(SIGUSR1);
	raise(SIGUSR2);
	a.sa_flags |= (int)SA_RESETHAND;
	sigaction(SIGUSR2, &a, &was);
	printf("%d %x %d\n", was.sa_sigaction == masks,
	       (unsigned)was.sa_flags & ~0x04000000u, sigismember(&was.sa_mask, SIGTERM));
	raise(SIGUSR2);
	sigaction(SIGUSR2, NULL, &was);
	printf("%d\n", was.sa_handler == SIG_DFL);
}

static void after(long ns)
{
	struct itimerval t = { { 0, 0 }, { 0, ns / 1000 } };

	setitimer(ITIMER_REAL, &t, NULL);
}

static void waits(void)
{
	struct timespec second = { 5, 0 }, rest;
	int fds[2];
	char c;
	sigset_t none;

	handle(SIGALRM, count, 0);
	for (int i = 0; i < 5; i++) {
		after(50000000);
		printf("%d", nanosleep(&second, &rest) == -1 && errno == EINTR &&
				     rest.tv_sec == 4);
	}
	for (int i = 0; i < 5; i++) {
		after(50000000);
		printf("%d", poll(NULL, 0, 5000) == -1 && errno == EINTR);
	}
	sigemptyset(&none);
	for (int i = 0; i < 50; i++) {
		sigset_t alarm;

		sigemptyset(&alarm);
		sigaddset(&alarm, SIGALRM);
		sigprocmask(SIG_BLOCK, &alarm, NULL);
		after(1000 * (i + 1));
		printf("%d", sigsuspend(&none) == -1 && errno == EINTR);
		sigprocmask(SIG_UNBLOCK, &alarm, NULL);
	}
	if (pipe(fds) != 0)
		abort();
	after(50000000);
	printf("%d", read(fds[0], &c, 1) == -1 && errno == EINTR);
	handle(SIGALRM, count, SA_RESTART);
	if (fork() == 0) {
		for (int i = 0; i < 20; i++) {
			usleep(1000);
			kill(getppid(), SIGALRM);
		}
		usleep(1000);
		_exit(write(fds[1], "x", 1) != 1);
	}
	printf("%d", read(fds[0], &c, 1) == 1 && c == 'x');
	while (wait(NULL) < 0)
		;
	printf("\n");
}

#define THREADS 2
static int n_signals = 5000;
static volatile int is_over;
static unsigned long taken[THREADS], n_wrong;
static __thread unsigned self;
static sem_t is_taken;

static void take(int signal, siginfo_t *info, void *context)
{
	stir(signal, info, context);
	taken[self]++;
	sem_post(&is_taken);
}

static void *target(void *arg)
{
	unsigned long right = work(1000);

	self = (unsigned)(size_t)arg;
	while (!is_over)
		if (work(1000) != right)
			__atomic_fetch_add(&n_wrong, 1, __ATOMIC_RELAXED);
	return NULL;
}

/* Each is taken before the next is sent. */
static void storm(void)
{
	pthread_t threads[THREADS];
	unsigned long sum = 0;

	handle(SIGUSR1, take, 0);
	sem_init(&is_taken, 0, 0);
	for (size_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, target, (void *)i);
	for (int i = 0; i < n_signals; i++) {
		pthread_kill(threads[i % THREADS], SIGUSR1);
		sem_wait(&is_taken);
	}
	is_over = 1;
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum += taken[i];
	}
	printf("%lu %lu\n", sum, n_wrong);
}

static void of_child(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	n_seen++;
}

static void children(void)
{
	int status;

	handle(SIGCHLD, of_child, SA_RESTART);
	handle(SIGUSR1, count, 0);
	for (volatile int i = 0; i < 50; i++) {
		pid_t pid = i % 2 ? fork() : vfork();

		if (pid == 0)
			_exit(i);
		waitpid(pid, &status, 0);
		printf("%d ", WEXITSTATUS(status));
	}
	printf("%d\n", n_seen > 0);
	pid_t pid = fork();

	if (pid == 0) {
		raise(SIGUSR1);
		raise(SIGTERM);
	}
	waitpid(pid, &status, 0);
	printf("%d\n", WTERMSIG(status));
	if (fork() == 0) { /* from a handler's frame, in a child */
		handle(SIGUSR2, leap, 0);
		if (!sigsetjmp(back, 1))
			raise(SIGUSR2);
		_exit(0);
	}
	wait(&status);
	printf("%d\n", status);
}

static void forks_within(int signal, siginfo_t *info, void *context)
{
	(void)signal, (void)info, (void)context;
	n_seen++;
	fflush(stdout);
	if (fork() == 0)
		n_seen += 100;
}

static void forked_within(void)
{
	int status = 0;

	handle(SIGUSR1, forks_within, 0);
	raise(SIGUSR1);
	if (n_seen > 100)
		_exit((int)n_seen);
	wait(&status);
	printf("%d %d\n", (int)n_seen, WEXITSTATUS(status));
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "timer", timer },
	{ "faults_left", faults_left },
	{ "faults_mended", faults_mended },
	{ "context", context },
	{ "queued", queued },
	{ "settings", settings },
	{ "waits", waits },
	{ "storm", storm },
	{ "children", children },
	{ "forked_within", forked_within },
};

int main(int argc, char **argv)
{
	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 1; i < argc; i++) {
		if (atoi(argv[i]))
			n_signals = atoi(argv[i]);
		for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
			if (strcmp(argv[i], cases[k].name) == 0)
				cases[k].run();
	}
	fflush(stdout);
	return 0;
}
