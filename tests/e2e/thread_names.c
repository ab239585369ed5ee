/* SPDX-License-Identifier: Apache-2.0
 *
 * thread_names [later] - two threads that name themselves and then do what every tracing
 * experiment observes: alpha and beta.  later: they do it before they have a name, and
 * get others, gamma and delta, when a byte comes; and go on until there is none any more.
 */
#include <dwell.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N 2

DWELL_REGION(region, "region", NULL);

static pthread_barrier_t barrier;
static volatile double zero;
static void *volatile kept[N];
static int is_later;

static void work(long i)
{
	int fd = open("/dev/null", O_WRONLY);

	dwell_begin(&region);
	kept[i] = malloc(1000);
	zero *= 1 / zero;
	zero = 0;
	if (write(fd, "x", 1) != 1)
		abort();
	pthread_barrier_wait(&barrier);
	dwell_end(&region);
}

static void *run(void *arg)
{
	static const char *const first[] = { "alpha", "beta" }, *const then[] = {
		"gamma", "delta"
	};
	long i = (long)arg;

	if (!is_later)
		pthread_setname_np(pthread_self(), first[i]);
	work(i);
	if (!is_later)
		return NULL;
	pthread_barrier_wait(&barrier); /* main has heard */
	pthread_setname_np(pthread_self(), then[i]);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void hear(const char *what)
{
	puts(what);
	fflush(stdout);
	getchar();
	pthread_barrier_wait(&barrier);
}

int main(int argc, char **argv)
{
	pthread_t threads[N];

	is_later = argc > 1 && !strcmp(argv[1], "later");
	pthread_barrier_init(&barrier, NULL, N + (unsigned)is_later);
	for (long i = 0; i < N; i++)
		pthread_create(&threads[i], NULL, run, (void *)i);
	if (is_later) {
		pthread_barrier_wait(&barrier);
		hear("unnamed");
		pthread_barrier_wait(&barrier);
		hear("named");
	}
	for (long i = 0; i < N; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
