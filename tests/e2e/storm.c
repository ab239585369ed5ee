/* SPDX-License-Identifier: Apache-2.0
 *
 * storm forks N: N children that end at once.  storm threads N: N threads at a time.
 * storm handoffs N: two threads, each on a CPU of its own, that wake each other N times
 * and do nothing else.  storm execs SECONDS PROGRAM: one after the other, for so long;
 * says how many.  storm exec PROGRAM ARG...: in a thread that is not the leader.
 */
#include <pthread.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
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

static int to_other[2], to_main[2];

static void stay_on(int cpu)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

static void *answer(void *x)
{
	char c;

	stay_on(1);
	while (read(to_other[0], &c, 1) == 1)
		if (write(to_main[1], &c, 1) != 1)
			break;
	return x;
}

static void handoffs(int n)
{
	pthread_t other;
	char c = 0;

	stay_on(0);
	if (pipe(to_other) != 0 || pipe(to_main) != 0 ||
	    pthread_create(&other, NULL, answer, NULL) != 0)
		exit(1);
	for (int i = 0; i < n; i++)
		if (write(to_other[1], &c, 1) != 1 || read(to_main[0], &c, 1) != 1)
			exit(1);
	close(to_other[1]);
	pthread_join(other, NULL);
}

static int execs(int seconds, char *program)
{
	char *argv[] = { program, NULL };
	time_t end = time(NULL) + seconds;
	int n = 0;

	while (time(NULL) < end) {
		pid_t pid;

		if (posix_spawn(&pid, program, NULL, NULL, argv, NULL) != 0 ||
		    waitpid(pid, NULL, 0) != pid)
			exit(1);
		n++;
	}
	return n;
}

static void *exec_there(void *argv)
{
	char **args = argv;

	execv(args[0], args);
	exit(1);
}

static void exec_in_thread(char **argv)
{
	pthread_t other;

	if (pthread_create(&other, NULL, exec_there, argv) == 0)
		pthread_join(other, NULL);
	exit(1);
}

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 100;

	if (argc > 2 && !strcmp(argv[1], "exec"))
		exec_in_thread(argv + 2);
	if (argc > 1 && !strcmp(argv[1], "threads"))
		threads(n);
	else if (argc > 1 && !strcmp(argv[1], "handoffs"))
		handoffs(n);
	else if (argc > 3 && !strcmp(argv[1], "execs"))
		n = execs(n, argv[3]);
	else
		forks(n);
	printf("%d done\n", n);
	return 0;
}
