/* SPDX-License-Identifier: Apache-2.0
 *
 * crowd - threads by the thousand, one behind the other, beside some that wait
 * throughout. usage: crowd COUNT
 *
 * Prints a line for each of those: its name, its number, and for how long it waited, in
 * ns: that it ran, and that another had the CPU, is none of it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

#define SOON_NS 300000000L /* until the rules of this program's stacks are known */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2];

struct waiting {
	const char *name;
	void *(*body)(void *);
	pthread_t id;
	int tid;
	long ns;
};

static long ns_by(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* For how long the caller could have run by now, and did not; 0 where the kernel does not
 * tell. */
static long delayed_ns(void)
{
	int fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
	char text[64] = "";
	long ns = 0;

	if (fd >= 0 && read(fd, text, sizeof(text) - 1) > 0)
		(void)sscanf(text, "%*s %ld", &ns);
	if (fd >= 0)
		close(fd);
	return ns;
}

/* What time has passed for the caller in which it neither ran nor could have. */
static long waited_ns(void)
{
	long ns, delayed;

	do { /* until nobody came between the clocks */
		delayed = delayed_ns();
		ns = ns_by(CLOCK_MONOTONIC) - ns_by(CLOCK_THREAD_CPUTIME_ID);
	} while (delayed_ns() != delayed);
	return ns - delayed;
}

static NOINLINE void *locked(void *arg)
{
	struct waiting *w = arg;
	long from = waited_ns();

	w->tid = (int)syscall(SYS_gettid);
	pthread_mutex_lock(&mutex);
	w->ns = waited_ns() - from;
	pthread_mutex_unlock(&mutex);
	return NULL;
}

static NOINLINE void *reading(void *arg)
{
	struct waiting *w = arg;
	long from = waited_ns();
	char byte;

	w->tid = (int)syscall(SYS_gettid);
	if (read(pipes[0], &byte, 1) == 1)
		w->ns = waited_ns() - from;
	return NULL;
}

static void *passing(void *arg)
{
	return arg;
}

int main(int argc, char **argv)
{
	struct waiting all[] = { { "locked", locked, 0, 0, 0 },
				 { "reading", reading, 0, 0, 0 } };
	struct timespec soon = { .tv_nsec = SOON_NS };
	long n = workload_arg(argc, argv, 1, 1000);
	pthread_t id;

	nanosleep(&soon, NULL);
	if (pipe(pipes) != 0)
		return 1;
	pthread_mutex_lock(&mutex);
	for (int i = 0; i < 2; i++)
		pthread_create(&all[i].id, NULL, all[i].body, &all[i]);
	for (long i = 0; i < n; i++)
		if (pthread_create(&id, NULL, passing, NULL) == 0)
			pthread_join(id, NULL);
	pthread_mutex_unlock(&mutex);
	if (write(pipes[1], "", 1) != 1)
		return 1;
	for (int i = 0; i < 2; i++) {
		pthread_join(all[i].id, NULL);
		printf("%s %d %ld\n", all[i].name, all[i].tid, all[i].ns);
	}
	return 0;
}
