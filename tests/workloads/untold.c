/* SPDX-License-Identifier: Apache-2.0
 *
 * untold - waits in more stacks than a profiler that is stopped can be told of.
 * usage: untold COUNT
 *
 * All on one CPU.  After a line on its input COUNT threads wait, one behind the other,
 * and then the first one where it never did before; it says so, and after another line
 * prints its number and for how long it lived since it began, in ns.
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

#define DEPTH	   60
#define N_POLLS	   100
#define N_AT_LAST  10
#define AT_LAST_NS 10000000L

static volatile int returns;

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void sleeps(long ns)
{
	struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

static NOINLINE void below(int depth)
{
	if (depth)
		below(depth - 1);
	else
		sleeps(1000);
	returns = returns + 1;
}

static void *one(void *arg)
{
	below(DEPTH);
	return arg;
}

static void say(const char *line)
{
	puts(line);
	fflush(stdout);
	if (!fgets((char[16]){ 0 }, 16, stdin))
		exit(1);
}

int main(int argc, char **argv)
{
	long began = now_ns();
	cpu_set_t set;
	pthread_t id;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (argc != 2 || sched_setaffinity(0, sizeof(set), &set) < 0)
		return 1;
	say("ready");
	for (int i = 0; i < atoi(argv[1]); i++)
		if (pthread_create(&id, NULL, one, NULL) != 0 ||
		    pthread_join(id, NULL) != 0)
			return 1;
	for (int i = 0; i < N_POLLS; i++)
		poll(NULL, 0, 1 + i % 3);
	say("done");
	for (int i = 0; i < N_AT_LAST; i++)
		sleeps(AT_LAST_NS);
	printf("%d %ld\n", getpid(), now_ns() - began);
	return 0;
}
