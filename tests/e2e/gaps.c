/* SPDX-License-Identifier: Apache-2.0
 *
 * Threads whose frames are larger than what is ever touched of them, so that their stacks
 * have pages in the middle that are not there: up to the one next to the stack pointer in
 * `near`, only further up in `far`.  usage: gaps ROUNDS
 */
#include <pthread.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

NOINLINE static long spin(volatile char *frame)
{
	for (int i = 0; i < 1000000; i++)
		frame[0] = (char)(frame[0] + i);
	return frame[0];
}

NOINLINE static long near(void)
{
	volatile char frame[9000];

	frame[0] = 0;
	return spin(frame) + frame[0];
}

NOINLINE static long below(void)
{
	volatile char frame[30000];

	frame[0] = 0;
	return near() + frame[0];
}

NOINLINE static long far(void)
{
	volatile char frame[50000];

	frame[0] = 0;
	return spin(frame) + frame[0];
}

static void *thread(void *arg)
{
	long rounds = *(long *)arg, sum = 0;

	for (long i = 0; i < rounds; i++)
		sum += below() + far();
	return (void *)sum;
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 100;
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, thread, &rounds) != 0)
			return 1;
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	return 0;
}
