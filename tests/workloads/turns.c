/* SPDX-License-Identifier: Apache-2.0
 *
 * turns - waits in turn in three system calls, each as often.
 * usage: turns COUNT
 *
 * Prints how often it had to wait in each, as nobody waits whose time is over when it
 * gets to run; and "end" and the monotonic clock, in ns, when it is about to end.
 */
#include <linux/futex.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 300000L
#define SOON_NS 300000000L /* until the rules of this program's stacks are known */

static volatile int turns;

static __attribute__((noinline)) void sleeps(void)
{
	struct timespec t = { .tv_nsec = WAIT_NS };

	nanosleep(&t, NULL);
	turns = turns + 1;
}

static __attribute__((noinline)) void polls(void)
{
	struct timespec t = { .tv_nsec = WAIT_NS };

	ppoll(NULL, 0, &t, NULL);
	turns = turns + 1;
}

static __attribute__((noinline)) void locks(void)
{
	static uint32_t word;
	struct timespec t = { .tv_nsec = WAIT_NS };

	syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &t, NULL, 0);
	turns = turns + 1;
}

static struct kind {
	const char *name;
	void (*wait)(void);
	long times;
} kinds[] = { { "sleeps", sleeps, 0 }, { "polls", polls, 0 }, { "locks", locks, 0 } };

#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static long times_waited(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_nvcsw;
}

static void take_turn(struct kind *k)
{
	k->times -= times_waited();
	k->wait();
	k->times += times_waited();
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	struct timespec soon = { .tv_nsec = SOON_NS }, end;

	nanosleep(&soon, NULL);
	for (int i = 0; i < n; i++)
		for (size_t k = 0; k < N_KINDS; k++)
			take_turn(&kinds[k]);
	for (size_t k = 0; k < N_KINDS; k++)
		printf("%s %ld\n", kinds[k].name, kinds[k].times);
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("end %lld\n", end.tv_sec * 1000000000LL + end.tv_nsec);
	return 0;
}
