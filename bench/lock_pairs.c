/* SPDX-License-Identifier: Apache-2.0
 *
 * lock_pairs N ROUNDS [alone] - takes and gives back a free mutex N times, and prints the
 * least ns that a pair took in any of the rounds.  Another thread is there and sleeps,
 * as what one thread alone does to a lock is cheaper.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *sleep_on(void *arg)
{
	pause();
	return arg;
}

static double round_of(long n)
{
	double since = now_ns();

	for (long i = 0; i < n; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return (now_ns() - since) / (double)n;
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 100000,
	     rounds = argc > 2 ? atol(argv[2]) : 100;
	double least = 0;
	pthread_t thread;

	if (argc <= 3)
		pthread_create(&thread, NULL, sleep_on, NULL);
	for (long i = 0; i < rounds; i++) {
		double ns = round_of(n);

		least = i == 0 || ns < least ? ns : least;
	}
	printf("%.2f\n", least);
	return 0;
}
