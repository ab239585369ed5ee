/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Four threads.  Each takes one mutex they share for 20,000 steps of work (inside),
 * then does 20,000 steps of its own (outside); every 1024 turns they meet at a barrier.
 * So half of all CPU time is under locked_update, half under outside, a quarter in each
 * thread, and whatever a thread waits, it waits for the mutex or the barrier.
 *
 *	usage: mt [TURNS]	(of each thread; 8192)
 */
#include <pthread.h>
#include <stdio.h>

#include "workload.h"

#define THREADS 4
#define STEPS	20000

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static volatile unsigned long shared;
static long turns;
static struct {
	unsigned long value;
	char own_cache_line[56];
} sinks[THREADS];

NOINLINE static unsigned long spin(long n, unsigned long x)
{
	return WORKLOAD_STEPS(x, n);
}

NOINLINE static void inside(void)
{
	shared = spin(STEPS, shared | 1);
}

NOINLINE static unsigned long outside(unsigned long x)
{
	return spin(STEPS, x | 1);
}

NOINLINE static void locked_update(void)
{
	pthread_mutex_lock(&mutex);
	inside();
	pthread_mutex_unlock(&mutex);
}

static void *worker(void *arg)
{
	long id = (long)arg;
	unsigned long x = (unsigned long)id;

	for (long i = 0; i < turns; i++) {
		locked_update();
		x = outside(x);
		if ((i & 1023) == 0)
			pthread_barrier_wait(&barrier);
	}
	sinks[id].value = x;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	turns = workload_arg(argc, argv, 1, 8192);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);

	unsigned long sum = 0;

	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		sum ^= sinks[i].value;
	}
	printf("%lu\n", sum ^ shared);
	return 0;
}
