/* SPDX-License-Identifier: Apache-2.0
 *
 * reached - functions that are called so many times, and return so much, as is known.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREADS	 8
#define CHILDREN 3

long fib(long n);
long adds(long a, long b);
void deep(long n);
void dive(long n, void (*leaf)(void));

static jmp_buf back;
static volatile int leaves = 1;

__attribute__((noinline)) long fib(long n)
{
	long a, b;

	if (n < 2)
		return n;
	a = fib(n - 1);
	__asm__ volatile("" : "+r"(a));
	b = fib(n - 2);
	__asm__ volatile("" : "+r"(b)); /* no loop is to be made of it */
	return a + b;
}

__attribute__((noinline)) long adds(long a, long b)
{
	__asm__ volatile("" : "+r"(a));
	return a + b;
}

/* Leaves all of them at once. */
__attribute__((noinline)) void deep(long n)
{
	if (n > 0)
		deep(n - 1);
	else if (leaves)
		longjmp(back, 1);
	__asm__ volatile("");
}

/* Calls it below so many calls of itself. */
__attribute__((noinline)) void dive(long n, void (*leaf)(void))
{
	if (n > 1)
		dive(n - 1, leaf);
	else
		leaf();
	__asm__ volatile("");
}

__attribute__((noinline)) static void burn(void)
{
	for (volatile long i = 0; i < 5000000;)
		i = i + 1;
}

__attribute__((noinline)) static void nap(void)
{
	usleep(5000);
	__asm__ volatile("");
}

/* The tables of the code that is run are read meanwhile. */
__attribute__((noinline)) static void settle(void)
{
	for (int i = 0; i < 20; i++) {
		adds(0, 0);
		fib(1);
		usleep(100000);
	}
}

static void known(void)
{
	settle();
	fib(15);
	for (long i = 0; i < 1000; i++)
		adds(i, -3 * i);
}

static void jumps(void)
{
	settle();
	for (int i = 0; i < 100; i++)
		if (!setjmp(back))
			deep(5);
	fib(10);
}

static void *add_ones(void *arg)
{
	for (int i = 0; i < 10000; i++)
		adds(1, 1);
	return arg;
}

static void crowd(void)
{
	pthread_t all[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&all[i], NULL, add_ones, NULL) != 0)
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
}

static void family(void)
{
	for (int i = 0; i < CHILDREN; i++) {
		pid_t child = fork();

		if (!child) {
			for (int k = 0; k < 100; k++)
				adds(k, 0);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
}

/* For each byte that is read, which is answered then: CPU time and a wait, in themselves
 * or in a function of six calls. */
static void dives(void)
{
	char c;

	while (read(0, &c, 1) == 1) {
		if (c == 'd') {
			dive(6, burn);
			dive(6, nap);
		} else {
			burn();
			nap();
		}
		if (write(1, &c, 1) != 1)
			return;
	}
}

/* A thousand calls for each byte that is read, which is answered then. */
static void paced(void)
{
	char c;

	while (read(0, &c, 1) == 1) {
		for (long i = 0; i < 1000; i++)
			adds(i, 1);
		if (write(1, &c, 1) != 1)
			return;
	}
}

static void loops(void)
{
	if (write(1, "x", 1) != 1)
		return;
	for (;;)
		adds(0, 1);
}

static const struct {
	const char *name;
	void (*fn)(void);
} modes[] = {
	{ "crowd", crowd }, { "dives", dives }, { "family", family }, { "jumps", jumps },
	{ "known", known }, { "loops", loops }, { "paced", paced },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc == 2 && !strcmp(argv[1], modes[i].name)) {
			modes[i].fn();
			return 0;
		}
	}
	return 2;
}
