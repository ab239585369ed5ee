/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_calls MODE - takes and gives back memory in ways of which the truth is known by
 * counting the lines below.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* clang makes no clones, and does not know how to be told. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static void *volatile kept;

static NOINLINE void *keep(void *p)
{
	kept = p;
	return p;
}

/* Every call, with sizes that tell them apart. */

NOINLINE void by_malloc(void)
{
	for (int i = 0; i < 3; i++)
		keep(malloc(11));
}

NOINLINE void by_calloc(void)
{
	keep(calloc(7, 5));
}

NOINLINE void by_realloc(void)
{
	void *p = realloc(NULL, 100);

	p = realloc(keep(p), 5000);
	keep(realloc(p, 300));
}

NOINLINE void by_reallocarray(void)
{
	keep(reallocarray(NULL, 9, 9));
}

NOINLINE void by_posix_memalign(void)
{
	void *p;

	if (posix_memalign(&p, 64, 640) == 0)
		keep(p);
	if (posix_memalign(&p, 3, 640) != EINVAL)
		abort();
}

NOINLINE void by_aligned_alloc(void)
{
	keep(aligned_alloc(128, 1280));
}

NOINLINE void by_memalign(void)
{
	keep(memalign(32, 320));
}

NOINLINE void by_valloc(void)
{
	keep(valloc(77));
}

NOINLINE void by_pvalloc(void)
{
	keep(pvalloc(78));
}

NOINLINE void by_nothing(void)
{
	free(NULL);
	errno = 7;
	free(keep(malloc(1)));
	if (errno != 7)
		abort();
	if (malloc(PTRDIFF_MAX) || errno != ENOMEM)
		abort();
}

NOINLINE void by_failure(void)
{
	void *p = keep(malloc(2222));

	if (realloc(p, PTRDIFF_MAX))
		abort();
	kept = p;
}

NOINLINE void by_size_0(void)
{
	void *p = keep(malloc(3333));

	keep(realloc(p, 0));
}

static void calls(void)
{
	by_malloc();
	by_calloc();
	by_realloc();
	by_reallocarray();
	by_posix_memalign();
	by_aligned_alloc();
	by_memalign();
	by_valloc();
	by_pvalloc();
	by_nothing();
	by_failure();
	by_size_0();
}

/* A peak of 5 blocks of 1,000 and 7 of 2,000 bytes. */

NOINLINE void low(void **at)
{
	for (int i = 0; i < 10; i++)
		at[i] = malloc(1000);
	for (int i = 5; i < 10; i++)
		free(at[i]);
}

NOINLINE void high(void **at)
{
	for (int i = 0; i < 7; i++)
		at[i] = malloc(2000);
	for (int i = 0; i < 7; i++)
		free(at[i]);
}

static void peak(void)
{
	void *a[10], *b[10];

	low(a);
	high(b);
	for (int i = 0; i < 5; i++)
		free(a[i]);
	low(a);
}

/* Blocks of 30,000 bytes, of which there is one for three that are too large for what the
 * process may have. */

#define N_FITTING 20000

NOINLINE void fits(void)
{
	free(keep(malloc(30000)));
}

NOINLINE void fails(void *small)
{
	if (keep(malloc(300000)) || keep(realloc(small, 300000)))
		abort();
}

static void failing(void)
{
	struct rlimit none = { 0, RLIM_INFINITY };
	void *small = malloc(100);

	for (int i = 0; i < 100; i++)
		fits();
	setrlimit(RLIMIT_AS, &none);
	for (int i = 0; i < N_FITTING; i++) {
		fails(small);
		fits();
		fails(small);
	}
}

/* Threads: blocks that another thread gives back, and threads that come and go. */

#define N_PASSED 50000
static void *volatile box[4];

NOINLINE void pass(void *volatile *to)
{
	void *p = malloc(48);

	while (!__sync_bool_compare_and_swap(to, NULL, p))
		sched_yield();
}

static void *give_away(void *arg)
{
	for (int i = 0; i < N_PASSED; i++)
		pass(arg);
	return NULL;
}

static void *give_back(void *arg)
{
	void *volatile *from = arg;

	for (int i = 0; i < N_PASSED; i++) {
		void *p;

		while (!(p = __sync_lock_test_and_set(from, NULL)))
			sched_yield();
		free(p);
	}
	return NULL;
}

static void passing(void)
{
	pthread_t threads[8];

	for (int i = 0; i < 4; i++) {
		pthread_create(&threads[2 * i], NULL, give_away, (void *)&box[i]);
		pthread_create(&threads[2 * i + 1], NULL, give_back, (void *)&box[i]);
	}
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
}

NOINLINE void *leak_in_thread(void *arg)
{
	keep(malloc(10));
	return arg;
}

static void short_threads(void)
{
	for (int i = 0; i < 3000; i++) {
		pthread_t t;

		pthread_create(&t, NULL, leak_in_thread, NULL);
		pthread_join(t, NULL);
	}
}

static pthread_barrier_t all_there;

NOINLINE void *leak_together(void *arg)
{
	keep(malloc(10));
	pthread_barrier_wait(&all_there);
	return arg;
}

static void many_threads(unsigned n)
{
	pthread_t *threads = calloc(n, sizeof(*threads));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	pthread_barrier_init(&all_there, NULL, n + 1);
	for (unsigned i = 0; i < n; i++)
		if (pthread_create(&threads[i], &attr, leak_together, NULL) != 0)
			_exit(77);
	pthread_barrier_wait(&all_there);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* Processes. */

NOINLINE void leak_in_child(void)
{
	keep(malloc(44));
}

NOINLINE void leak_in_parent(void)
{
	keep(malloc(55));
}

static void processes(void)
{
	void *before = malloc(66);
	pid_t pid = fork();

	if (pid == 0) {
		free(before);
		leak_in_child();
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	pid = vfork();
	if (pid == 0)
		execl("/bin/true", "true", NULL);
	waitpid(pid, NULL, 0);
	leak_in_parent();
	free(before);
}

static void killed(void)
{
	for (int i = 0; i < 1000; i++)
		leak_in_parent();
	raise(SIGKILL);
}

/* Handlers that allocate, with an allocator that allows it. */

#define N_SIGNALS 20000
static volatile int n_handled;

NOINLINE void handler(int signal)
{
	(void)signal;
	free(malloc(21));
	n_handled++;
}

static void handlers(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	int n = 0;

	signal(SIGALRM, handler);
	setitimer(ITIMER_REAL, &often, NULL);
	while (n_handled < 500) {
		free(malloc(31));
		n++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	dprintf(1, "%d %d\n", n, n_handled);
}

NOINLINE void deeper(int n)
{
	if (n)
		deeper(n - 1);
	else
		keep(malloc(88));
	kept = kept;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";

	if (strcmp(mode, "calls") == 0)
		calls();
	else if (strcmp(mode, "peak") == 0)
		peak();
	else if (strcmp(mode, "failing") == 0)
		failing();
	else if (strcmp(mode, "passing") == 0)
		passing();
	else if (strcmp(mode, "threads") == 0)
		short_threads();
	else if (strcmp(mode, "many") == 0)
		many_threads((unsigned)atoi(argv[2]));
	else if (strcmp(mode, "processes") == 0)
		processes();
	else if (strcmp(mode, "killed") == 0)
		killed();
	else if (strcmp(mode, "handlers") == 0)
		handlers();
	else if (strcmp(mode, "deep") == 0)
		deeper(atoi(argv[2]));
	else
		return 2;
	return 0;
}
