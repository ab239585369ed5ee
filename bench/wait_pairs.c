/* SPDX-License-Identifier: Apache-2.0
 *
 * wait_pairs N ROUNDS [calls] - two threads hand a word to each other N times, each
 * waiting in the kernel for its turn, and the least ns that one time took in any of the
 * rounds is printed; or of a system call that waits for nothing.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic uint32_t turn; /* even: the first thread's */
static long n, rounds;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void hand_on(uint32_t own)
{
	for (long i = 0; i < n; i++) {
		uint32_t now;

		while ((now = atomic_load(&turn)) % 2 != own)
			syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL, NULL, 0);
		atomic_fetch_add(&turn, 1);
		syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
	}
}

static void *other(void *arg)
{
	for (long i = 0; i < rounds; i++)
		hand_on(1);
	return arg;
}

static double round_of(int is_of_calls)
{
	double since = now_ns();

	if (!is_of_calls)
		hand_on(0);
	for (long i = 0; is_of_calls && i < n; i++)
		syscall(SYS_getppid);
	return (now_ns() - since) / (double)n / (is_of_calls ? 1 : 2);
}

int main(int argc, char **argv)
{
	int is_of_calls = argc > 3;
	double least = 0;
	pthread_t thread;

	n = argc > 1 ? atol(argv[1]) : 10000;
	rounds = argc > 2 ? atol(argv[2]) : 10;
	if (!is_of_calls)
		pthread_create(&thread, NULL, other, NULL);
	for (long i = 0; i < rounds; i++) {
		double ns = round_of(is_of_calls);

		least = i == 0 || ns < least ? ns : least;
	}
	if (!is_of_calls)
		pthread_join(thread, NULL);
	printf("%.2f\n", least);
	return 0;
}
