/* SPDX-License-Identifier: Apache-2.0
 *
 * turns - waits in turn in three system calls, each as often.
 * usage: turns COUNT
 *
 * Prints "end" and the monotonic clock, in ns, when it is about to end.
 */
#include <linux/futex.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WAIT_NS 300000L
#define SOON_NS 300000000L /* until the rules of this program's stacks are known */

static volatile int turns;

static __attribute__((noinline)) void sleeps(long ns)
{
	struct timespec t = { .tv_nsec = ns };

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

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;
	struct timespec end;

	sleeps(SOON_NS);
	for (int i = 0; i < n; i++) {
		sleeps(WAIT_NS);
		polls();
		locks();
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("end %lld\n", end.tv_sec * 1000000000LL + end.tv_nsec);
	return 0;
}
