/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program can do about floating-point exceptions and their signal, each of which
 * must do the same where they are traced.  Prints what it sees, and how many exceptions
 * it raised where that is to be compared: "raised N".
 *
 *	usage: fpe_program WHAT [N]
 */
#include <fenv.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

static volatile double zero = 0, one = 1, result;
static volatile int zero_int, result_int;
static volatile sig_atomic_t n_signals;
static sigjmp_buf back;
static long n = 1000;

static __attribute__((noinline)) void raise_one(void)
{
	result = one / zero;
}

static void raise_all(long times)
{
	for (long i = 0; i < times; i++)
		raise_one();
}

static void tell(const char *where)
{
	printf("%s: enabled %x, flags %x, result %g\n", where, (unsigned)fegetexcept(),
	       (unsigned)fetestexcept(FE_ALL_EXCEPT), result);
}

static void leave(int signal)
{
	n_signals++;
	siglongjmp(back, signal);
}

static void on_exception(int signal, siginfo_t *info, void *context)
{
	(void)context;
	printf("signal %d, code %d, masks as in the beginning: %d\n", signal,
	       info->si_code, _mm_getcsr() == 0x1f80 || (_mm_getcsr() & 0x3f) == 0);
	leave(signal);
}

static void catch (int signal, void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction a = { .sa_sigaction = handler, .sa_flags = SA_SIGINFO };

	sigaction(signal, &a, NULL);
}

static void environment(void)
{
	fexcept_t flags;
	fenv_t env;

	tell("begin");
	raise_one();
	tell("raised");
	fegetexceptflag(&flags, FE_ALL_EXCEPT);
	feclearexcept(FE_ALL_EXCEPT);
	tell("cleared");
	fesetexceptflag(&flags, FE_ALL_EXCEPT);
	tell("set");
	printf("held %d\n", feholdexcept(&env));
	tell("held");
	raise_one();
	tell("raised");
	feclearexcept(FE_ALL_EXCEPT);
	result = zero / zero;
	feupdateenv(&env);
	tell("updated");
	fesetenv(FE_DFL_ENV);
	tell("default");
	raise_one();
	tell("raised");
	printf("enable: %x, %x\n", (unsigned)feenableexcept(FE_OVERFLOW),
	       (unsigned)fedisableexcept(FE_OVERFLOW));
	tell("disabled");
	feraiseexcept(FE_INVALID | FE_UNDERFLOW);
	tell("asked");
	printf("raised 5\n"); /* and what was asked for is one */
}

static void enabled(void)
{
	feenableexcept(FE_DIVBYZERO);
	tell("enabled");
	catch (SIGFPE, on_exception);
	for (int i = 0; i < 3; i++) {
		feenableexcept(FE_DIVBYZERO);
		result = 5;
		if (!sigsetjmp(back, 1))
			raise_one();
		tell("back");
	}
	result = zero / zero;
	printf("0/0 is not enabled: %d\n", result != result);
	printf("raised 4\n");
}

static void deadly(void)
{
	feenableexcept(FE_DIVBYZERO | FE_INVALID);
	result = one / 3;
	raise_one();
	puts("not reached");
}

static void divide(void)
{
	puts("before");
	fflush(stdout);
	result_int = 7 / zero_int;
	puts("not reached");
}

static void caught(void)
{
	catch (SIGFPE, on_exception);
	for (int i = 0; i < 3; i++) {
		if (!sigsetjmp(back, 1))
			result_int = 7 / zero_int;
		raise_one();
	}
	printf("raised 6\n");
}

static void skip(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal, (void)info;
	n_signals++;
	uc->uc_mcontext.gregs[REG_RIP] += 2; /* div %ecx */
}

static void skipped(void)
{
	catch (SIGFPE, skip);
	for (int i = 0; i < 5; i++)
		__asm__ volatile("div %%ecx" : : "a"(7), "d"(0), "c"(0) : "cc");
	printf("%d signals\nraised 5\n", (int)n_signals);
}

static void in_handler(int signal)
{
	(void)signal;
	n_signals++;
	raise_one();
}

static void handlers(void)
{
	struct sigaction old;
	void (*before)(int) = signal(SIGUSR1, in_handler);

	printf("default before: %d\n", before == SIG_DFL);
	for (long i = 0; i < n; i++) {
		raise(SIGUSR1);
		raise_one();
	}
	sigaction(SIGUSR1, NULL, &old);
	printf("mine: %d, flags %x\n", old.sa_handler == in_handler,
	       (unsigned)old.sa_flags);
	printf("mine: %d\n", signal(SIGUSR1, SIG_DFL) == in_handler);
	printf("default: %d\n", signal(SIGUSR1, SIG_IGN) == SIG_DFL);
	printf("raised %ld\n", 2 * n);
}

/* Each of them anywhere in what makes an instruction again. */
static void interrupted(void)
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } },
			 never = { { 0, 0 }, { 0, 0 } };
	long made = 0;

	signal(SIGALRM, in_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (; n_signals < n / 10; made++)
		raise_one();
	setitimer(ITIMER_REAL, &never, NULL);
	fprintf(stderr, "raised %ld\n", made + n_signals);
}

static void *thread(void *arg)
{
	raise_all(n);
	return arg;
}

static void threads(void)
{
	pthread_t t[20];

	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 20; i++)
			pthread_create(&t[i], NULL, thread, NULL);
		for (int i = 0; i < 20; i++)
			pthread_join(t[i], NULL);
	}
	printf("raised %ld\n", 100 * n);
}

static void blocked(void)
{
	sigset_t all, now;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	raise_all(n);
	sigprocmask(SIG_BLOCK, NULL, &now);
	printf("blocked: %d %d\n", sigismember(&now, SIGFPE), sigismember(&now, SIGTRAP));
	sigemptyset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &now);
	printf("blocked: %d\n", sigismember(&now, SIGFPE));
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	printf("blocked: %d\n", sigismember(&now, SIGFPE));
	raise_all(n);
	printf("raised %ld\n", 2 * n);
}

static void on_sent(int signal)
{
	printf("got %d\n", signal);
}

static void sent(void)
{
	struct sigaction old;

	signal(SIGFPE, SIG_IGN);
	raise(SIGFPE);
	raise_all(n);
	printf("ignored: %d\n", signal(SIGFPE, on_sent) == SIG_IGN);
	raise(SIGFPE);
	kill(getpid(), SIGFPE);
	raise_all(n);
	sigaction(SIGFPE, NULL, &old);
	printf("mine: %d, flags %x\n", old.sa_handler == on_sent, (unsigned)old.sa_flags);
	printf("raised %ld\n", 2 * n);
}

static void forked(void)
{
	pid_t pid;

	raise_all(n);
	fflush(stdout);
	pid = fork();
	raise_all(n);
	if (!pid)
		_exit(7);
	int status;
	waitpid(pid, &status, 0);
	printf("child %d\nraised %ld\n", WEXITSTATUS(status), 3 * n);
}

/* Control registers that a program sets without its library. */
static void registers(void)
{
	volatile double tiny = 0x1p-1022, half = 0.5, third = one / 3;

	_mm_setcsr(_mm_getcsr() | 0x8040); /* to zero, as zero */
	result = tiny * half;
	printf("to zero: %g\n", result);
	_mm_setcsr(_mm_getcsr() & ~0x8040u);
	result = tiny * half;
	printf("not: %g\n", result);
	fesetround(FE_UPWARD);
	raise_one();
	result = third * 7;
	printf("upward: %a\n", result);
	fesetround(FE_DOWNWARD);
	raise_one();
	result = third * 7;
	printf("downward: %a, %d\n", result, fegetround() == FE_DOWNWARD);
}

/* Within what looks at the masks. */
static void shown(void)
{
	struct itimerval often = { { 0, 200 }, { 0, 200 } },
			 never = { { 0, 0 }, { 0, 0 } };

	signal(SIGALRM, in_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	while (n_signals < n / 10)
		feclearexcept(FE_ALL_EXCEPT);
	setitimer(ITIMER_REAL, &never, NULL);
	fprintf(stderr, "raised %d\n", (int)n_signals);
}

static void asked_and_left(void)
{
	catch (SIGFPE, on_exception);
	feenableexcept(FE_DIVBYZERO);
	if (!sigsetjmp(back, 1))
		feraiseexcept(FE_DIVBYZERO);
	raise_one();
	tell("left");
	printf("raised 2\n");
}

static void mask_all(int signal, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	(void)signal, (void)info;
	n_signals++;
	uc->uc_mcontext.fpregs->mxcsr |= 0x1f80;
	uc->uc_mcontext.fpregs->cwd |= 0x3f;
}

static void asked_and_masked(void)
{
	catch (SIGFPE, mask_all);
	feenableexcept(FE_DIVBYZERO);
	feraiseexcept(FE_DIVBYZERO);
	raise_one();
	tell("masked");
	printf("%d signals\nraised 2\n", (int)n_signals);
}

/* No file may be large enough for copies of instructions: each takes a step. */
static void stepped(void)
{
	struct rlimit small = { 1000, 1000 };

	setrlimit(RLIMIT_FSIZE, &small);
	interrupted();
}

static void breakpoint(void)
{
	puts("before");
	fflush(stdout);
	__asm__ volatile("int3");
	puts("not reached");
}

static void *divide_zeros(void *arg)
{
	result = zero / zero;
	printf("NaN %d, flags %x\n", result != result,
	       (unsigned)fetestexcept(FE_ALL_EXCEPT));
	return arg;
}

/* Flags of before what is enabled. */
static void inherited(void)
{
	pthread_t t;

	catch (SIGFPE, on_exception);
	raise_one();
	divide_zeros(NULL);
	feenableexcept(FE_DIVBYZERO);
	pthread_create(&t, NULL, divide_zeros, NULL);
	pthread_join(t, NULL);
	divide_zeros(NULL);
	if (!sigsetjmp(back, 1))
		raise_one();
	printf("raised 5\n");
}

/* What is raised is told by the unit at its next instruction. */
static void changed(void)
{
	union {
		double all;
		unsigned halves[2];
	} by = { 0 };
	double r, s;
	int by_int = 0;

	__asm__ volatile("fld1\n\tfdivl %1\n\tmovl $0x40140000, %2\n\tfstpl %0"
			 : "=m"(r), "+m"(by.all), "+m"(by.halves[1]));
	__asm__ volatile("fld1\n\tfidivl %1\n\tmovl $5, %1\n\tfstpl %0"
			 : "=m"(s), "+m"(by_int));
	printf("%g by %g, %g by %d\nraised 2\n", r, by.all, s, by_int);
}

/* A flag as libraries set it that compute without the unit. */
static void loaded(void)
{
	volatile long double third = 1;
	unsigned env[7];

	third /= 3;
	__asm__ volatile("fnstenv %0" : "=m"(env));
	env[1] |= 2;
	__asm__ volatile("fldenv %0\n\tfwait" : : "m"(env));
	printf("%Lg\nraised 1\n", third);
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void held(void)
{
	int fpe = 1 << (SIGFPE - 1), both = fpe | 1 << (SIGUSR1 - 1);

	printf("%x\n", (unsigned)sigblock(both));
	raise_all(n);
	printf("%x\n", (unsigned)sigsetmask(fpe));
	raise_all(n);
	printf("%x\n", (unsigned)sigsetmask(0));
	printf("hold %d\n", sighold(SIGFPE));
	raise_all(n);
	printf("held %d\n", sigset(SIGFPE, SIG_HOLD) == SIG_HOLD);
	printf("held %d\n", sigset(SIGFPE, on_sent) == SIG_HOLD);
	raise(SIGFPE);
	printf("mine %d\n", sigset(SIGFPE, SIG_HOLD) == on_sent);
	raise_all(n);
	printf("release %d\n", sigrelse(SIGFPE));
	raise(SIGFPE);
	printf("raised %ld\n", 4 * n);
}

static void made_blocked(void)
{
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 32)
	pthread_attr_t attr;
	sigset_t all;
	pthread_t t;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setsigmask_np(&attr, &all);
	pthread_create(&t, &attr, thread, NULL);
	pthread_join(t, NULL);
#else
	raise_all(n);
#endif
	printf("raised %ld\n", n);
}

/* What is told of the last one of a place is found wrong later: its result is exact. */
static void forked_between(void)
{
	volatile double tiny = 0x1p-1022, by[] = { 0.3, 0.5 };
	int status;
	pid_t pid;

	for (long i = 0; i < n; i++)
		result = tiny * by[i == n - 1];
	pid = fork();
	feclearexcept(FE_ALL_EXCEPT);
	raise_one();
	if (!pid)
		_exit(7);
	waitpid(pid, &status, 0);
	printf("child %d\nraised %ld\n", WEXITSTATUS(status), n + 1);
}

static void restricted(void)
{
	struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = { 1, &allow };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	raise_one();
	tell("restricted");
	catch (SIGFPE, on_exception);
	feenableexcept(FE_DIVBYZERO);
	if (!sigsetjmp(back, 1))
		raise_one();
	tell("back");
	catch (SIGFPE, mask_all);
	feenableexcept(FE_DIVBYZERO);
	raise_one();
	raise_one();
	tell("masked");
	printf("%d signals\n", (int)n_signals);
}

static void nothing(void)
{
	printf("%d\n", result_int);
}

static const struct {
	const char *name;
	void (*run)(void);
} all[] = {
	{ "environment", environment },
	{ "enabled", enabled },
	{ "deadly", deadly },
	{ "divide", divide },
	{ "caught", caught },
	{ "skipped", skipped },
	{ "handlers", handlers },
	{ "interrupted", interrupted },
	{ "threads", threads },
	{ "blocked", blocked },
	{ "sent", sent },
	{ "forked", forked },
	{ "registers", registers },
	{ "shown", shown },
	{ "asked_and_left", asked_and_left },
	{ "asked_and_masked", asked_and_masked },
	{ "stepped", stepped },
	{ "breakpoint", breakpoint },
	{ "inherited", inherited },
	{ "changed", changed },
	{ "loaded", loaded },
	{ "held", held },
	{ "made_blocked", made_blocked },
	{ "forked_between", forked_between },
	{ "restricted", restricted },
	{ "nothing", nothing },
};

int main(int argc, char **argv)
{
	if (argc > 2)
		n = atol(argv[2]);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]) && argc > 1; i++)
		if (strcmp(all[i].name, argv[1]) == 0)
			return all[i].run(), 0;
	return 2;
}
