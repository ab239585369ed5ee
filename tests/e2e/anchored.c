/* SPDX-License-Identifier: Apache-2.0
 *
 * anchored N: N times a turn of two kinds of work, each so often as the names say.
 * anchored N vfork: while another thread is in vfork() for seconds.
 * anchored N fork: forks a child that sleeps when it is told to by SIGUSR1, and says
 * which. anchored N often: N times a thousand calls of some hundred nanoseconds, and
 * nothing else. anchored N alone: N times 100,000 rounds of a loop that calls nothing and
 * never leaves itself.
 *
 * A turn takes some tens of microseconds: rare enough for a CPU to stop at it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN	100000
#define DIVIDE	10000
#define OFTEN	1000
#define SHORT	1000
#define VFORK_S 4

static __attribute__((noinline)) unsigned long add_100000(unsigned long x)
{
	for (unsigned i = 0; i < PLAIN; i++)
		__asm__ volatile("add $3, %0" : "+r"(x));
	return x;
}

static __attribute__((noinline)) unsigned long divide_10000(unsigned long x)
{
	for (unsigned i = 0; i < DIVIDE; i++)
		__asm__ volatile("xor %%edx, %%edx; div %1"
				 : "+a"(x)
				 : "r"(3UL)
				 : "rdx", "cc");
	return x;
}

static __attribute__((noinline)) unsigned long turn(unsigned long x)
{
	return divide_10000(add_100000(x));
}

static __attribute__((noinline)) unsigned long add_1000(unsigned long x)
{
	for (unsigned i = 0; i < SHORT; i++)
		__asm__ volatile("add $3, %0" : "+r"(x));
	return x;
}

static unsigned long call_often(unsigned long x, unsigned long n)
{
	for (unsigned long i = 0; i < n * OFTEN; i++)
		x = add_1000(x) + i;
	return x;
}

static __attribute__((noinline)) unsigned long go_round(unsigned long x, unsigned long n)
{
	for (unsigned long i = 0; i < n * PLAIN; i++)
		__asm__ volatile("imul $3, %0, %0" : "+r"(x));
	return x;
}

static void *be_in_vfork(void *unused)
{
	pid_t pid = vfork();

	if (pid == 0) {
		sleep(VFORK_S);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return unused;
}

static void fork_one(int signal)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	dprintf(STDOUT_FILENO, "%d\n", (int)pid);
	(void)signal;
}

int main(int argc, char **argv)
{
	unsigned long x = 1, n = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
	int is_often = argc > 2 && !strcmp(argv[2], "often");
	int is_alone = argc > 2 && !strcmp(argv[2], "alone");
	int has_thread = argc > 2 && !strcmp(argv[2], "vfork");
	pthread_t thread;

	if (argc > 2 && !strcmp(argv[2], "fork"))
		signal(SIGUSR1, fork_one);
	if (has_thread && pthread_create(&thread, NULL, be_in_vfork, NULL) != 0)
		return 1;
	if (is_often)
		x = call_often(x, n);
	else if (is_alone)
		x = go_round((unsigned long)argc, n);
	else
		while (n--)
			x = turn(x);
	if (has_thread)
		pthread_join(thread, NULL);
	printf("%lu\n", x);
	return 0;
}
