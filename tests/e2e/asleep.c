/* SPDX-License-Identifier: Apache-2.0
 *
 * A server that has nothing to do: every thread is blocked, for good, in a function of
 * its own.  Prints a line when all are about to be.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t ready;
static int fds[2];
static volatile int sink;

NOINLINE static void wait_condition(void)
{
	pthread_mutex_lock(&mutex);
	while (!sink)
		pthread_cond_wait(&cond, &mutex);
	pthread_mutex_unlock(&mutex);
}

NOINLINE static void wait_input(void)
{
	char c;

	if (read(fds[0], &c, 1) > 0)
		sink = c;
}

NOINLINE static int wait_deep(int depth)
{
	volatile char pad[300];

	pad[0] = (char)depth;
	if (depth)
		return wait_deep(depth - 1) + pad[0];
	sleep(1000);
	return pad[0];
}

static void *on_condition(void *x)
{
	pthread_barrier_wait(&ready);
	wait_condition();
	return x;
}

static void *on_input(void *x)
{
	pthread_barrier_wait(&ready);
	wait_input();
	return x;
}

/* 300 KB of stack. */
static void *deep(void *x)
{
	pthread_barrier_wait(&ready);
	sink = wait_deep(800);
	return x;
}

int main(void)
{
	void *(*const jobs[])(void *) = { on_condition, on_input, deep };
	pthread_t threads[3];

	pthread_barrier_init(&ready, NULL, 4);
	if (pipe(fds) != 0)
		return 1;
	for (int i = 0; i < 3; i++)
		if (pthread_create(&threads[i], NULL, jobs[i], NULL) != 0)
			return 1;
	pthread_barrier_wait(&ready);
	puts("ready");
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
