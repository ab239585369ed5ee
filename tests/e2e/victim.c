/* SPDX-License-Identifier: Apache-2.0
 *
 * victim DEED [ARGUMENT] - does to itself what breaks recorders, and prints what it saw
 * of it.
 */
#include "victim.h"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

volatile sig_atomic_t n_seen;
static volatile unsigned long sink;

void spin(int n)
{
	for (int i = 0; i < n * 400000; i++)
		sink = sink * 1664525UL + 1013904223UL;
}

static long cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void burn(long ms)
{
	long end = cpu_ms() + ms;

	do
		for (int i = 0; i < 10000; i++)
			sink = sink * 1664525UL + 1013904223UL;
	while (cpu_ms() < end);
}

void sleep_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) < 0)
		;
}

void take_and_wait(void)
{
	void *volatile taken = malloc(100);
	struct timespec soon;
	sem_t nobody_posts;

	free(taken);
	sem_init(&nobody_posts, 0, 0);
	clock_gettime(CLOCK_REALTIME, &soon);
	soon.tv_nsec += 5000000;
	soon.tv_sec += soon.tv_nsec / 1000000000;
	soon.tv_nsec %= 1000000000;
	sem_timedwait(&nobody_posts, &soon);
}

static void count(int signal)
{
	(void)signal;
	n_seen++;
}

void on_signal(int signal, int flags)
{
	struct sigaction a = { .sa_handler = count, .sa_flags = flags };

	sigaction(signal, &a, NULL);
}

void die(const char *what)
{
	perror(what);
	exit(99);
}

int main(int argc, char **argv)
{
	static const struct deed *const all[] = {
		memory_deeds, process_deeds, sandbox_deeds, signal_deeds, wait_deeds,
	};
	const char *name = argc > 1 ? argv[1] : "";

	burn(5);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		for (const struct deed *d = all[i]; d->name; d++)
			if (!strcmp(d->name, name)) {
				d->run(argc > 2 ? argv[2] : "");
				return 0;
			}
	return 2;
}
