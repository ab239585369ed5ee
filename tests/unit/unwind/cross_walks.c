/* SPDX-License-Identifier: Apache-2.0 */
/* Walks on another architecture, under qemu: built by cross.sh with that architecture's
 * compiler.  unwind_local is compared with glibc's backtrace(), which may only be
 * shorter (it gives up in PLT entries, which aarch64 has no table for).  Prints one
 * line; exit code 1 when a frame differs. */
#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "unwind/local.h"

#define MAX	256
#define N_TICKS 300

static struct unwind_local_cache *cache;
static uintptr_t stack_lo, stack_hi;
static volatile int n_walks, n_shorter, n_wrong, n_untold, n_ticks;

/* Where no table is, backtrace() looks whether a signal's trampoline is at what should be
 * a return address, which may be signed or none. */
static sigjmp_buf out_of_theirs;
static volatile sig_atomic_t is_in_theirs;

static void on_fault(int sig)
{
	if (is_in_theirs)
		siglongjmp(out_of_theirs, 1);
	signal(sig, SIG_DFL);
}

/* 0: they did not come back. */
static size_t walk_theirs(void **ret)
{
	volatile size_t n = 0;

	is_in_theirs = 1;
	if (sigsetjmp(out_of_theirs, 1) == 0)
		n = (size_t)backtrace(ret, MAX);
	is_in_theirs = 0;
	return n;
}

/* Ours from `first` on against theirs, which starts with frames of the handler. */
static void compare(const uintptr_t *ours, size_t n, size_t first, enum unwind_stop stop)
{
	void *theirs[MAX];
	size_t m = walk_theirs(theirs), i = first, k = 0;

	if (!m) {
		n_untold++;
		return;
	}
	while (k < m && (uintptr_t)theirs[k] != ours[first])
		k++;
	while (i < n && k < m && ours[i] == (uintptr_t)theirs[k])
		i++, k++;
	n_walks++;
	if (k < m || stop != UNWIND_END)
		n_wrong++;
	else if (i < n)
		n_shorter++;
}

static __attribute__((noinline)) void walk_here(void)
{
	uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8];
	uintptr_t pcs[MAX];
	enum unwind_stop stop;
	size_t n = unwind_local(cache, NULL, stack_lo, stack_hi, pcs, exact, MAX, &stop);

	compare(pcs, n, 1, stop); /* [0] is this function, at another call */
}

static void on_signal(int sig, siginfo_t *info, void *context)
{
	uint8_t exact[UNWIND_LOCAL_DEPTH_MAX / 8];
	uintptr_t pcs[MAX];
	enum unwind_stop stop;
	size_t n =
		unwind_local(cache, context, stack_lo, stack_hi, pcs, exact, MAX, &stop);

	(void)info;
	compare(pcs, n, 0, stop);
	n_ticks += sig == SIGALRM;
}

static __attribute__((noinline)) int deep(int n, bool by_signal)
{
	/* some frames are too large for short offsets */
	char local[4096];
	int v = 0;

	memset(local, n, n % 3 ? 8 : sizeof(local));
	if (n) {
		v = deep(n - 1, by_signal) + local[n % 8];
	} else if (by_signal) {
		raise(SIGUSR1);
	} else {
		walk_here();
		walk_here();
	}
	__asm__ volatile("" : "+r"(v) : "r"(local) : "memory");
	return v;
}

static int compare_ints(const void *a, const void *b)
{
	if (n_ticks < 0)
		walk_here();
	return *(const int *)a - *(const int *)b;
}

static void work(void)
{
	int v[50];
	char text[64];

	for (int i = 0; i < 50; i++) {
		snprintf(text, sizeof(text), "%d %s %f", i * 7919 % 101, "abc", i * 1.5);
		v[i] = (int)strtol(text, NULL, 10);
	}
	qsort(v, 50, sizeof(v[0]), compare_ints);
}

static void interrupt_work(void)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct itimerspec every = { { 0, 3000000 }, { 0, 3000000 } };
	timer_t timer;

	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		return;
	timer_settime(timer, 0, &every, NULL);
	while (n_ticks < N_TICKS)
		work();
	timer_delete(timer);
}

int main(void)
{
	struct sigaction sa = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
	void *low, *warm_up[4];
	pthread_attr_t attr;
	size_t size;

	pthread_getattr_np(pthread_self(), &attr);
	pthread_attr_getstack(&attr, &low, &size);
	stack_lo = (uintptr_t)low;
	stack_hi = stack_lo + size;
	backtrace(warm_up, 4); /* loads libgcc_s */
	unwind_local_refresh();
	cache = calloc(1, unwind_local_cache_bytes());
	signal(SIGSEGV, on_fault);
	signal(SIGBUS, on_fault);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGALRM, &sa, NULL);
	for (int n = 0; n < 40; n++) {
		deep(n, false);
		deep(n, true);
	}
	n_ticks = -1;
	work();
	n_ticks = 0;
	interrupt_work();
	printf("%d walks, %d wrong, %d where backtrace() is shorter, %d where it "
	       "faults\n",
	       n_walks, n_wrong, n_shorter, n_untold);
	return n_wrong || n_untold > n_walks / 20;
}
