/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fine locks: two threads, each N lock/unlock pairs on a mutex of its own, never
 * contended, then N / 20 pairs on one they share.
 *
 *	usage: lk [N]	(20,000,000)
 */
#include <pthread.h>
#include <stdio.h>

#include "workload.h"

#define THREADS 2

static struct {
	pthread_mutex_t mutex;
	char own_cache_line[280];
} own_locks[THREADS];
static pthread_mutex_t shared_lock = PTHREAD_MUTEX_INITIALIZER;
static long pairs, shared_count;

static void *worker(void *arg)
{
	long id = (long)arg, count = 0;

	for (long i = 0; i < pairs; i++) {
		pthread_mutex_lock(&own_locks[id].mutex);
		count++;
		pthread_mutex_unlock(&own_locks[id].mutex);
	}
	for (long i = 0; i < pairs / 20; i++) {
		pthread_mutex_lock(&shared_lock);
		shared_count++;
		pthread_mutex_unlock(&shared_lock);
	}
	return (void *)count;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];
	long total = 0;

	pairs = workload_arg(argc, argv, 1, 20000000);
	for (long i = 0; i < THREADS; i++) {
		pthread_mutex_init(&own_locks[i].mutex, NULL);
		pthread_create(&threads[i], NULL, worker, (void *)i);
	}
	for (int i = 0; i < THREADS; i++) {
		void *count;

		pthread_join(threads[i], &count);
		total += (long)count;
	}
	printf("%ld %ld\n", total, shared_count);
	return 0;
}
