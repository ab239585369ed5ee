/* SPDX-License-Identifier: Apache-2.0
 *
 * victim_signals - masks, handlers, timers and stacks of signals are the program's own.
 */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "victim.h"

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

static void raise_it(const char *arg)
{
	raise(atoi(arg));
}

static void goes_on(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);

	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 20; i++) {
		burn(30);
		sleep_ms(50);
	}
	dprintf(fd, "went on\n");
}

static void count_interrupts(const char *arg)
{
	(void)arg;
	on_signal(SIGINT, SA_RESTART);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 50 && !n_seen; i++)
		sleep_ms(20);
	sleep_ms(200);
	printf("interrupted %d\n", n_seen);
}

/* The kernel's CPU timers tick as it pleases, the more so on a busy machine. */
static void burn_until_seen(int n)
{
	for (int i = 0; i < 300 && n_seen < n; i++)
		burn(10);
}

static void interval_timer(const char *name, int which, int signal)
{
	struct itimerval every = { { 0, 10000 }, { 0, 10000 } }, never = { 0 };

	n_seen = 0;
	on_signal(signal, SA_RESTART);
	setitimer(which, &every, NULL);
	burn_until_seen(3);
	setitimer(which, &never, &every);
	printf("%s %s, each %ld\n", name, n_seen >= 3 ? "comes" : "does not come",
	       (long)every.it_interval.tv_usec);
}

static void on_timer(union sigval v)
{
	sem_post(v.sival_ptr);
}

static void timer_of_threads(void)
{
	sem_t fired;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD,
				  .sigev_notify_function = on_timer,
				  .sigev_value.sival_ptr = &fired };
	struct itimerspec when = { .it_value = { 0, 1000000 } };
	timer_t t;

	sem_init(&fired, 0, 0);
	if (timer_create(CLOCK_MONOTONIC, &event, &t) < 0)
		die("timer_create");
	timer_settime(t, 0, &when, NULL);
	while (sem_wait(&fired) < 0)
		;
	burn(20);
	printf("fired once, %s\n", sem_trywait(&fired) < 0 ? "no more" : "again");
	timer_delete(t);
}

static void timer_of_signals(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGRTMIN + 1 };
	struct itimerspec every = { { 0, 8000000 }, { 0, 8000000 } };
	timer_t t;

	n_seen = 0;
	on_signal(SIGRTMIN + 1, SA_RESTART);
	if (timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &t) < 0)
		die("timer_create");
	timer_settime(t, 0, &every, NULL);
	burn_until_seen(3);
	printf("CPU timer %s\n", n_seen >= 3 ? "comes" : "does not come");
	timer_delete(t);
}

static void own_timers(const char *arg)
{
	(void)arg;
	interval_timer("ITIMER_PROF", ITIMER_PROF, SIGPROF);
	interval_timer("ITIMER_VIRTUAL", ITIMER_VIRTUAL, SIGVTALRM);
	interval_timer("ITIMER_REAL", ITIMER_REAL, SIGALRM);
	timer_of_signals();
	timer_of_threads();
}

static void print_set(const char *what, const sigset_t *set)
{
	printf("%s:", what);
	for (int i = 1; i <= 64; i++)
		if (sigismember(set, i) == 1 && i != 32 && i != 33)
			printf(" %d", i);
	printf("\n");
}

/* By the bare call, as glibc leaves its own two signals, 32 and 33, out; what is pending
 * of them is not the program's business. */
static void block_everything(const char *arg)
{
	uint64_t all = ~UINT64_C(0), old = 0, pending = 0;
	sigset_t set;

	(void)arg;
	sigprocmask(SIG_BLOCK, NULL, &set);
	print_set("blocked at first", &set);
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof(all));
	burn(30);
	raise(SIGUSR1);
	sigpending(&set);
	print_set("pending", &set);
	syscall(SYS_rt_sigpending, &pending, sizeof(pending));
	on_signal(SIGUSR1, 0);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
	burn(10);
	printf("delivered %d\n", n_seen);
	for (int i = 1; i <= 64; i++) {
		struct sigaction a;

		if (i != SIGUSR1 && i != SIGCHLD && sigaction(i, NULL, &a) == 0 &&
		    a.sa_handler != SIG_DFL)
			printf("handler of %d %p\n", i, (void *)(intptr_t)a.sa_handler);
	}
}

/* Signals are taken from a descriptor and by sigwait: only the program's own. */
static void taken_otherwise(const char *arg)
{
	struct signalfd_siginfo info;
	struct timespec none = { 0, 0 };
	sigset_t set;
	int fd;

	(void)arg;
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	burn(30);
	raise(SIGUSR1);
	raise(SIGRTMIN + 3);
	while (read(fd, &info, sizeof(info)) == sizeof(info))
		printf("signalfd %d\n",
		       (int)info.ssi_signo - (info.ssi_signo > 31) * SIGRTMIN);
	burn(30);
	raise(SIGUSR2);
	for (int s; (s = sigtimedwait(&set, NULL, &none)) > 0;)
		printf("sigwait %d\n", s);
}

/* A stack with a page behind it that may not be touched. */
static char *guarded_stack(size_t size)
{
	char *p = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || mprotect(p, 4096, PROT_NONE) < 0)
		die("mmap");
	return p + 4096;
}

static void burn_there(int signal)
{
	(void)signal;
	burn(20);
	n_seen++;
}

/* Room for two signals' frames, and that much more for what the handlers do. */
static void alternate_stack(const char *more)
{
	size_t frame =
		getauxval(AT_MINSIGSTKSZ) ? getauxval(AT_MINSIGSTKSZ) : MINSIGSTKSZ;
	stack_t stack = { .ss_size = 2 * frame + (size_t)atoi(more) }, now;
	struct sigaction a = { .sa_handler = burn_there, .sa_flags = SA_ONSTACK };

	stack.ss_sp = guarded_stack((stack.ss_size + 4095) & ~(size_t)4095);
	if (sigaltstack(&stack, NULL) < 0)
		die("sigaltstack");
	burn(20);
	sigaction(SIGUSR1, &a, NULL);
	raise(SIGUSR1);
	sigaltstack(NULL, &now);
	printf("handled %d, same stack %d, flags %d\n", n_seen, now.ss_sp == stack.ss_sp,
	       now.ss_flags);
}

#define BELOW_BYTES 16384
#ifndef SS_AUTODISARM /* the kernel knows none within the handler */
#define SS_AUTODISARM (1U << 31)
#endif

/* A handler may write, take memory and wait, on a stack below which is something else:
 * room for two signals' frames here, too. */
static void write_there(int signal)
{
	char text[512];
	int n = snprintf(text, sizeof(text), "signal %d\n", signal);

	if (write(2, text, (size_t)n) != n)
		_exit(1);
	take_and_wait();
	n_seen++;
}

static void write_on(char *memory, size_t size, int flags)
{
	stack_t stack = { .ss_sp = memory + BELOW_BYTES,
			  .ss_size = size,
			  .ss_flags = flags };
	struct sigaction a = { .sa_handler = write_there, .sa_flags = SA_ONSTACK };
	size_t n_changed = 0;

	memset(memory, 0x5a, BELOW_BYTES + size);
	if (sigaltstack(&stack, NULL) < 0)
		die("sigaltstack");
	sigaction(SIGUSR1, &a, NULL);
	raise(SIGUSR1);
	raise(SIGUSR1);
	for (size_t i = 0; i < BELOW_BYTES; i++)
		n_changed += memory[i] != 0x5a;
	printf("written %d, bytes below the stack that changed: %zu\n", n_seen,
	       n_changed);
}

/* In memory of its own, and in that of the thread's stack. */
static void write_on_alternate_stack(const char *more)
{
	static char memory[BELOW_BYTES + 32768];
	char local[sizeof(memory)];
	size_t frame =
		getauxval(AT_MINSIGSTKSZ) ? getauxval(AT_MINSIGSTKSZ) : MINSIGSTKSZ;
	size_t size = 2 * frame + (size_t)atoi(more);

	write_there(0); /* symbols are bound now, which takes a stack */
	if (size > sizeof(memory) - BELOW_BYTES)
		size = sizeof(memory) - BELOW_BYTES;
	write_on(memory, size, 0);
	write_on(local, size, 0);
	write_on(memory, size, (int)SS_AUTODISARM);
	write_on(local, size, (int)SS_AUTODISARM);
}

static void overflow_at(int n)
{
	volatile char frame[4096];

	frame[0] = (char)n;
	if (frame[0] == (char)n) /* always, but the compiler cannot know */
		overflow_at(n + 1);
	frame[1] = frame[0];
}

static void overflow(const char *arg)
{
	(void)arg;
	overflow_at(0);
}

static void on_overflow(int signal)
{
	static const char text[] = "caught the overflow\n";

	(void)signal;
	burn(20);
	_exit(write(1, text, sizeof(text) - 1) > 0 ? 7 : 8);
}

static void caught_overflow(const char *arg)
{
	stack_t stack = { .ss_size = 8192, .ss_sp = guarded_stack(8192) };
	struct sigaction a = { .sa_handler = on_overflow, .sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &a, NULL);
	overflow(arg);
}

const struct deed signal_deeds[] = {
	{ "die", raise_it },
	{ "goes-on", goes_on },
	{ "interrupts", count_interrupts },
	{ "timers", own_timers },
	{ "block", block_everything },
	{ "take", taken_otherwise },
	{ "alternate", alternate_stack },
	{ "alternate-write", write_on_alternate_stack },
	{ "overflow", overflow },
	{ "caught-overflow", caught_overflow },
	{ 0 },
};
