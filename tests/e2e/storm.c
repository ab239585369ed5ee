/* SPDX-License-Identifier: Apache-2.0
 *
 * storm forks N: N children that end at once.  storm threads N: N threads at a time.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void forks(int n)
{
	for (int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0)
			_exit(i & 63);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			exit(1);
	}
}

static pthread_barrier_t barrier;
static volatile unsigned long sink;

static void *spin(void *x)
{
	pthread_barrier_wait(&barrier);
	for (int i = 0; i < 1000000; i++)
		sink += (unsigned long)i;
	return x;
}

static void threads(int n)
{
	pthread_t *ids = calloc((size_t)n, sizeof(*ids));
	pthread_attr_t attr;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536);
	pthread_barrier_init(&barrier, NULL, (unsigned)n);
	for (int i = 0; i < n; i++)
		if (pthread_create(&ids[i], &attr, spin, NULL) != 0)
			exit(1);
	for (int i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	free(ids);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 100;

	if (argc > 1 && !strcmp(argv[1], "threads"))
		threads(n);
	else
		forks(n);
	printf("%d done\n", n);
	return 0;
}
