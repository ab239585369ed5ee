/* SPDX-License-Identifier: Apache-2.0
 *
 * regions - marks regions, and counts itself how often: "calls NAME N" and "counted NAME
 * N" are printed at the end. usage: regions WHAT [N]
 */
#include <dlfcn.h>
#include <dwell.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif

DWELL_REGION(whole, "whole", NULL);
DWELL_REGION(fib_region, "fib", "numbers");
DWELL_REGION(leaf, "leaf", "leaves");
DWELL_REGION(work, "work", NULL);
DWELL_REGION(never, "never begun", NULL);
DWELL_REGION(bytes, "bytes", NULL);

static unsigned long n_fib, n_leaf, n_bytes;

static void work_for(long ms)
{
	struct timespec from, now;

	dwell_begin(&work);
	clock_gettime(CLOCK_MONOTONIC, &from);
	do
		clock_gettime(CLOCK_MONOTONIC, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec <
	       ms * 1000000);
	dwell_end(&work);
}

static unsigned long fib(unsigned n)
{
	unsigned long v;

	dwell_begin(&fib_region);
	__atomic_fetch_add(&n_fib, 1, __ATOMIC_RELAXED);
	if (n < 2) {
		dwell_begin(&leaf);
		__atomic_fetch_add(&n_leaf, 1, __ATOMIC_RELAXED);
		dwell_count(&bytes, n + 1);
		__atomic_fetch_add(&n_bytes, n + 1, __ATOMIC_RELAXED);
		v = n;
		dwell_end(&leaf);
	} else {
		v = fib(n - 1) + fib(n - 2);
	}
	dwell_end(&fib_region);
	return v;
}

static void tell(void)
{
	printf("calls fib %lu\ncalls leaf %lu\ncounted bytes %lu\n", n_fib, n_leaf,
	       n_bytes);
	fflush(stdout);
}

static void *fib_thread(void *n)
{
	char name[16];

	snprintf(name, sizeof(name), "fib of %u", (unsigned)(uintptr_t)n);
	dwell_name_thread(name);
	fib((unsigned)(uintptr_t)n);
	return NULL;
}

static void do_recursion(unsigned n)
{
	dwell_begin(&whole);
	fib(n);
	dwell_end(&whole);
	tell();
}

static void do_threads(unsigned n)
{
	pthread_t threads[8];

	for (uintptr_t i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, fib_thread, (void *)(n + i));
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	tell();
}

/* Leaves are observed for the first half only. */
static void do_groups(unsigned n)
{
	unsigned long n_before;

	fib(n);
	n_before = n_leaf;
	dwell_switch("leaves", 0);
	fib(n);
	dwell_switch("leaves", 1);
	n_leaf = n_before;
	tell();
}

static void do_paused(unsigned n)
{
	fib(n);
	dwell_pause();
	n_leaf = n_fib = n_bytes = 0;
	fib(n);
	n_leaf = n_fib = n_bytes = 0;
	dwell_resume();
	fib(n);
	n_leaf *= 2;
	n_fib *= 2;
	n_bytes *= 2;
	tell();
}

/* Inner regions are left by a jump, and others end that never began. */
static void do_unbalanced(unsigned n)
{
	static jmp_buf out;

	for (volatile unsigned i = 0; i < n; i++) {
		dwell_begin(&whole);
		if (!setjmp(out)) {
			dwell_begin(&fib_region);
			dwell_begin(&leaf);
			n_fib++;
			n_leaf++;
			longjmp(out, 1);
		}
		dwell_end(&whole);
		dwell_end(&never);
	}
	tell();
}

static void do_fork(unsigned n)
{
	dwell_begin(&whole);
	fib(n);
	if (fork() == 0) {
		n_fib = n_leaf = n_bytes = 0;
		work_for(40);
		dwell_end(&whole);
		fib(n + 1);
		tell();
		_exit(0);
	}
	wait(NULL);
	dwell_end(&whole);
	tell();
}

/* The child has its parent's memory, and begins first: what is kept for it is nobody's
 * once it is gone. */
static void do_vfork(unsigned n)
{
	pthread_t t;

	if (vfork() == 0) {
		dwell_begin(&never);
		dwell_end(&never);
		_exit(0);
	}
	wait(NULL);
	dwell_begin(&whole);
	pthread_create(&t, NULL, fib_thread, (void *)(uintptr_t)n);
	pthread_join(t, NULL);
	fib(n);
	dwell_end(&whole);
	printf("calls whole 1\n");
	tell();
}

static void *end_within(void *unused)
{
	dwell_begin(&leaf);
	work_for(30);
	dwell_begin(&work);
	pthread_exit(unused);
}

/* The thread's time ends with it. */
static void do_thread_ends(unsigned n)
{
	pthread_t t;

	dwell_begin(&whole);
	pthread_create(&t, NULL, end_within, NULL);
	pthread_join(t, NULL);
	work_for(n);
	dwell_end(&whole);
}

static void *begin_and_end(void *unused)
{
	fib(3);
	return unused;
}

static void *make_threads(void *unused)
{
	pthread_t t;

	for (;;)
		if (pthread_create(&t, NULL, begin_and_end, NULL) == 0)
			pthread_join(t, NULL);
	return unused;
}

/* The process ends while threads come and go. */
static void do_leaves(unsigned n)
{
	pthread_t t;

	for (int i = 0; i < 4; i++)
		pthread_create(&t, NULL, make_threads, NULL);
	while (__atomic_load_n(&n_fib, __ATOMIC_RELAXED) < 100 + n)
		usleep(100);
	if (n % 2)
		_exit(0);
}

static void do_killed(unsigned n)
{
	dwell_begin(&whole);
	work_for(n);
	dwell_begin(&leaf);
	usleep(n * 1000);
	work_for(1);
	usleep(n * 1000);
	raise(SIGKILL);
}

static void do_callstack(unsigned n)
{
	struct dwell_block b[8];
	size_t n_blocks;

	dwell_begin(&whole);
	work_for(n);
	dwell_begin(&leaf);
	dwell_begin(&work);
	n_blocks = dwell_callstack(b, 8);
	for (size_t i = 0; i < n_blocks && i < 8; i++)
		printf("%s %llu %llu %d %d\n", b[i].name, (unsigned long long)b[i].calls,
		       (unsigned long long)b[i].subroutines,
		       b[i].inclusive >= n * 1000000ull,
		       b[i].instance_inclusive >= n * 1000000ull);
	fflush(stdout);
	dwell_print_callstack(1);
	dwell_end(&work);
	dwell_end(&leaf);
	dwell_end(&whole);
	printf("%d\n", (int)dwell_callstack(b, 8));
}

/* 100 ms or more for each of n callstacks; asks: for one of them. */
static void go_on(unsigned n, int asks)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	dwell_begin(&whole);
	for (unsigned i = 0; i < 100 * n; i++) {
		dwell_begin(&leaf);
		nanosleep(&pause, NULL);
		if (i == 50 && asks)
			kill(getppid(), SIGUSR2);
		dwell_end(&leaf);
	}
	dwell_end(&whole);
}

static void do_history(unsigned n)
{
	go_on(n, 0);
}

/* The thread is outside of all regions again and again. */
static void do_rests(unsigned n)
{
	struct timespec pause = { .tv_nsec = 2000000 };

	for (unsigned i = 0; i < 50 * n; i++) {
		dwell_begin(&whole);
		nanosleep(&pause, NULL);
		dwell_end(&whole);
	}
}

/* What tells of regions raises no exceptions of the program's. */
static void do_exceptions(unsigned n)
{
	struct dwell_block b[8];

	feclearexcept(FE_ALL_EXCEPT);
	do_rests(n);
	dwell_begin(&whole);
	dwell_callstack(b, 8);
	dwell_print_callstack(2);
	dwell_end(&whole);
	printf("%d\n", fetestexcept(FE_ALL_EXCEPT));
}

static void do_asked(unsigned n)
{
	go_on(n, 1);
}

/* Half of the time asleep; the CPU's own clock tells when the other is over. */
static void do_cpu(unsigned n)
{
	struct timespec used;

	dwell_begin(&whole);
	usleep(n * 1000);
	dwell_begin(&leaf);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	while (used.tv_sec * 1000 + used.tv_nsec / 1000000 < n);
	dwell_end(&leaf);
	dwell_end(&whole);
}

static void do_pages(unsigned n)
{
	char *p = mmap(NULL, n * 4096ul, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(p, n * 4096ul, MADV_NOHUGEPAGE);
	dwell_begin(&leaf);
	for (unsigned i = 0; i < n; i++)
		p[i * 4096ul] = 1;
	dwell_end(&leaf);
}

/* What dwell has open is closed, and its number another file's. */
static void do_closed(unsigned n)
{
	char text[10] = "";
	int ends[2];

	dwell_begin(&leaf);
	if (pipe2(ends, O_NONBLOCK) != 0 || write(ends[1], "all of it", 9) != 9)
		return;
	for (int fd = 900; fd < 910; fd++)
		dup2(ends[0], fd);
	usleep(1000);
	for (unsigned i = 0; i < n; i++)
		work_for(1);
	dwell_end(&leaf);
	if (read(900, text, 9) == 9)
		puts(text);
}

static void do_marks(unsigned n)
{
	for (unsigned i = 0; i < 3; i++) {
		work_for(n);
		dwell_mark(i == 1 ? "second" : "other");
	}
}

#define ABOVE_BYTES ((size_t)256 << 10)

static char *above;

static void on_alarm(int unused)
{
	(void)unused;
	dwell_begin(&leaf);
	dwell_end(&leaf);
}

/* Handlers interrupt everything, also what is done to the regions. */
static void be_interrupted(unsigned n)
{
	struct itimerval every = { { 0, 50 }, { 0, 50 } };

	setitimer(ITIMER_REAL, &every, NULL);
	dwell_begin(&whole);
	for (unsigned i = 0; i < n; i++)
		fib(10);
	dwell_end(&whole);
	printf("calls fib %lu\n", n_fib);
}

/* Names that are made up, each by two variables. */
static void do_named(unsigned n)
{
	for (unsigned i = 0; i < 2 * n; i++) {
		char name[32];
		struct dwell_region region = { name, i % 2 ? "odd" : "even", NULL };

		snprintf(name, sizeof(name), "named_%u", i % n);
		dwell_begin(&region);
		dwell_end(&region);
	}
}

static void do_signals(unsigned n)
{
	signal(SIGALRM, on_alarm);
	be_interrupted(n);
}

static void *interrupted(void *n)
{
	stack_t stack = { .ss_sp = above, .ss_size = ABOVE_BYTES };

	sigaltstack(&stack, NULL);
	be_interrupted(*(unsigned *)n);
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	return NULL;
}

/* They do so on a stack that is above the one of whom they interrupt. */
static void do_signals_above(unsigned n)
{
	struct sigaction action = { .sa_handler = on_alarm, .sa_flags = SA_ONSTACK };
	sigset_t alarms;
	pthread_attr_t attr;
	pthread_t t;

	above = ABOVE_BYTES + (char *)mmap(NULL, 2 * ABOVE_BYTES, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, above - ABOVE_BYTES, ABOVE_BYTES);
	sigaction(SIGALRM, &action, NULL);
	pthread_create(&t, &attr, interrupted, &n);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	pthread_join(t, NULL);
}

static void on_small_stack(int unused)
{
	(void)unused;
	work_for(30);
}

/* A handler's stack has little room beyond what the kernel needs, and below it a page
 * that cannot be written. */
static void do_small_stack(unsigned n)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t needed = getauxval(AT_MINSIGSTKSZ);
	const size_t room = (needed ? needed : 4096) + 6144;
	const size_t size = (room + page - 1) / page * page;
	char *p = mmap(NULL, page + size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack_t stack = { .ss_sp = p + page, .ss_size = room };
	struct sigaction action = { .sa_handler = on_small_stack,
				    .sa_flags = SA_ONSTACK };

	mprotect(p, page, PROT_NONE);
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	dwell_begin(&whole);
	for (unsigned i = 0; i < n; i++)
		raise(SIGUSR1);
	dwell_end(&whole);
}

static void do_allocator(unsigned n)
{
	Dl_info info = { 0 };

	(void)n;
	dwell_begin(&whole);
	dladdr(dlsym(RTLD_DEFAULT, "malloc"), &info);
	dwell_end(&whole);
	printf("malloc is of %s\n", info.dli_fname);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(unsigned n);
	} all[] = {
		{ "allocator", do_allocator },
		{ "asked", do_asked },
		{ "cpu", do_cpu },
		{ "leaves", do_leaves },
		{ "marks", do_marks },
		{ "pages", do_pages },
		{ "callstack", do_callstack },
		{ "closed", do_closed },
		{ "exceptions", do_exceptions },
		{ "fork", do_fork },
		{ "groups", do_groups },
		{ "history", do_history },
		{ "killed", do_killed },
		{ "named", do_named },
		{ "paused", do_paused },
		{ "recursion", do_recursion },
		{ "rests", do_rests },
		{ "signals", do_signals },
		{ "signals_above", do_signals_above },
		{ "small_stack", do_small_stack },
		{ "thread_ends", do_thread_ends },
		{ "threads", do_threads },
		{ "unbalanced", do_unbalanced },
		{ "vfork", do_vfork },
	};

	for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(all[0]); i++)
		if (strcmp(argv[1], all[i].name) == 0)
			all[i].run(argc > 2 ? (unsigned)atoi(argv[2]) : 10);
	return 0;
}
