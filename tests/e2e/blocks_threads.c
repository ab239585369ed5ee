/* SPDX-License-Identifier: Apache-2.0
 * A function that is called a known number of times by each thread and child. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_CALLS	  10000
#define N_ROUNDS  10
#define N_THREADS 4

int work(int n);

/* One function: volatile is what keeps compilers from knowing it. */
__attribute__((noinline)) int work(int n)
{
	volatile int x = n;

	return x * 3;
}

static void *run(void *unused)
{
	long sum = 0;

	(void)unused;
	for (int i = 0; i < N_CALLS; i++)
		sum += work(i);
	return (void *)sum;
}

static long run_threads(void)
{
	pthread_t threads[N_THREADS];
	long sum = 0;

	for (int i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, run, NULL);
	for (int i = 0; i < N_THREADS; i++) {
		void *one;

		pthread_join(threads[i], &one);
		sum += (long)one;
	}
	return sum;
}

static int code_of(pid_t child)
{
	int status = 0;

	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

int main(void)
{
	long sum = 0;
	pid_t child;
	int code;

	for (int i = 0; i < N_ROUNDS; i++)
		sum += run_threads();
	child = fork();
	if (!child)
		_exit(run(NULL) ? 7 : 0);
	code = code_of(child);
	child = vfork();
	if (!child) {
		for (int i = 0; i < code; i++)
			work(i);
		_exit(9);
	}
	printf("%ld %d %d\n", sum, code, code_of(child));
	return 0;
}
