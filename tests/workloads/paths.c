/* SPDX-License-Identifier: Apache-2.0
 *
 * paths - one place from which threads wait and wake others, reached on several paths.
 * usage: paths COUNT
 *
 * The registers and the stack pointer are the same there on all paths; what differs is a
 * return address further out.  Which path it was, the call tells as well, or the thread
 * that is woken.  The order is by chance.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

#define WAIT_NS 100000L
#define SOON_NS 300000000L /* until the rules of this program's stacks are known */

static const struct timespec brief = { .tv_nsec = WAIT_NS },
			     soon = { .tv_nsec = SOON_NS };
static volatile int turns;
static uint32_t word;
static int pipes[2][2];
static char byte;

struct call {
	long number, args[4];
};

static NOINLINE void makes(const struct call *c)
{
	syscall(c->number, c->args[0], c->args[1], c->args[2], c->args[3], 0, 0);
	turns = turns + 1;
}

static NOINLINE void passes(const struct call *c)
{
	makes(c);
	turns = turns + 1;
}

/* They are alike but for a number, lest they are made one. */
#define PATH(name, number)                                                               \
	static NOINLINE void name(const struct call *c)                                  \
	{                                                                                \
		passes(c);                                                               \
		turns = turns + (number);                                                \
	}

PATH(sleeps, 3)
PATH(polls, 4)
PATH(locks, 5)
PATH(wakes_first, 6)
PATH(wakes_second, 7)

static NOINLINE void *first(void *arg)
{
	while (read(pipes[0][0], &byte, 1) == 1)
		turns = turns + 8;
	return arg;
}

static NOINLINE void *second(void *arg)
{
	while (read(pipes[1][0], &byte, 1) == 1)
		turns = turns + 9;
	return arg;
}

int main(int argc, char **argv)
{
	const struct {
		void (*path)(const struct call *c);
		struct call call;
	} all[] = {
		{ sleeps,
		  { SYS_clock_nanosleep, { CLOCK_MONOTONIC, 0, (long)&brief, 0 } } },
		{ polls, { SYS_ppoll, { 0, 0, (long)&brief, 0 } } },
		{ locks,
		  { SYS_futex, { (long)&word, FUTEX_WAIT_PRIVATE, 0, (long)&brief } } },
		{ wakes_first, { SYS_write, { 0, (long)&byte, 1, 0 } } },
		{ wakes_second, { SYS_write, { 0, (long)&byte, 1, 0 } } },
	};
	uint32_t chance = 1;
	pthread_t threads[2];

	if (argc != 2 || pipe(pipes[0]) < 0 || pipe(pipes[1]) < 0 ||
	    pthread_create(&threads[0], NULL, first, NULL) != 0 ||
	    pthread_create(&threads[1], NULL, second, NULL) != 0)
		return 1;
	syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &soon, NULL);
	for (int i = 0; i < 5 * atoi(argv[1]); i++) {
		struct call call;
		uint32_t k;

		chance = chance * 1664525 + 1013904223;
		k = (chance >> 16) % 5;
		call = all[k].call;
		if (k >= 3)
			call.args[0] = pipes[k - 3][1];
		all[k].path(&call);
	}
	return 0;
}
