/* SPDX-License-Identifier: Apache-2.0
 *
 * waiter - what a program needs of which the truth about waits is known: times, and
 * whether who is to wait does.
 */
#ifndef DWELL_TESTS_WAITER_H
#define DWELL_TESTS_WAITER_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* clang makes no clones, and does not know how to be told. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

/* A function that calls as its last act is not on the stack any more. */
static inline int stay(int rc)
{
	__asm__ volatile("" : "+r"(rc));
	return rc;
}

static inline void check(int is_right, const char *what)
{
	if (is_right)
		return;
	printf("wrong: %s\n", what);
	exit(1);
}

static NOINLINE void sleep_ms(unsigned ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };

	while (nanosleep(&t, &t) != 0)
		;
}

static inline struct timespec in_ms(clockid_t clock, unsigned ms)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += ms / 1000;
	t.tv_nsec += ms % 1000 * 1000000L;
	if (t.tv_nsec >= 1000000000L) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000L;
	}
	return t;
}

/* Sleeps in the kernel, which is when it does not run any more. */
static inline int is_asleep(pid_t tid)
{
	char path[64], text[512] = "", *at;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	f = fopen(path, "r");
	if (f && fgets(text, sizeof(text), f)) {
		at = strrchr(text, ')');
		fclose(f);
		return at && at[2] == 'S';
	}
	if (f)
		fclose(f);
	return 0;
}

static volatile pid_t waiter_tid;

static inline void say_who(void)
{
	waiter_tid = (pid_t)syscall(SYS_gettid);
}

static inline void until_waiter_sleeps(void)
{
	while (!waiter_tid || !is_asleep(waiter_tid))
		sched_yield();
}

#endif
