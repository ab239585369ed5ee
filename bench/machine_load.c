/* SPDX-License-Identifier: Apache-2.0
 *
 * machine_load - loads of the whole machine that no program of the system makes.
 *
 *	usage: machine_load switches N		two processes on one CPU say N times go on
 *	       machine_load sleepers N WAKES	N processes that wake WAKES times, 0.1 s
 *apart machine_load memory N		each CPU reads and writes 64 MB N times
 *
 * Each ends by itself, and its children end with it.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WAKE_NS	     100000000
#define WAKE_WORK    2000
#define MEMORY_WORDS ((size_t)8 << 20)

static volatile unsigned long sink;

static int wait_for_all(void)
{
	int status, failed = 0;

	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}

/* 0 in the child. */
static pid_t fork_one(void)
{
	pid_t pid = fork();

	if (pid < 0) {
		perror("machine_load: fork");
		exit(1);
	}
	if (pid == 0)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static void stay_on_cpu_0(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static int pass(int from, int to, long n, int is_first)
{
	char c = 0;

	for (long i = 0; i < n; i++) {
		if (is_first && write(to, &c, 1) != 1)
			return 1;
		if (read(from, &c, 1) != 1)
			return 1;
		if (!is_first && write(to, &c, 1) != 1)
			return 1;
	}
	return 0;
}

static int switches(long n, long unused_argument)
{
	int go[2], back[2], failed;

	(void)unused_argument;
	stay_on_cpu_0();
	if (pipe(go) != 0 || pipe(back) != 0)
		return 1;
	if (fork_one() == 0)
		_exit(pass(go[0], back[1], n, 0));
	failed = pass(back[0], go[1], n, 1);
	return wait_for_all() || failed;
}

static void sleep_often(long wakes)
{
	struct timespec pause = { .tv_nsec = WAKE_NS };

	for (long i = 0; i < wakes; i++) {
		nanosleep(&pause, NULL);
		for (int k = 0; k < WAKE_WORK; k++)
			sink += (unsigned long)k;
	}
}

static int sleepers(long n, long wakes)
{
	for (long i = 0; i < n; i++)
		if (fork_one() == 0) {
			sleep_often(wakes);
			_exit(0);
		}
	return wait_for_all();
}

static void stream(long n)
{
	unsigned long *a = malloc(MEMORY_WORDS / 2 * sizeof(*a));
	unsigned long *b = malloc(MEMORY_WORDS / 2 * sizeof(*b));

	if (!a || !b)
		_exit(1);
	memset(a, 1, MEMORY_WORDS / 2 * sizeof(*a));
	memset(b, 2, MEMORY_WORDS / 2 * sizeof(*b));
	for (long i = 0; i < n; i++) {
		for (size_t k = 0; k < MEMORY_WORDS / 2; k++)
			a[k] += 3 * b[k];
		sink += a[(size_t)i % (MEMORY_WORDS / 2)];
	}
}

static int memory(long n, long unused_argument)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	(void)unused_argument;
	for (long i = 0; i < cpus; i++)
		if (fork_one() == 0) {
			stream(n);
			_exit(0);
		}
	return wait_for_all();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(long, long);
	} loads[] = { { "memory", memory },
		      { "sleepers", sleepers },
		      { "switches", switches } };
	long n = argc > 2 ? atol(argv[2]) : 0, m = argc > 3 ? atol(argv[3]) : 1;

	for (size_t i = 0; n > 0 && m > 0 && i < sizeof(loads) / sizeof(loads[0]); i++)
		if (strcmp(argv[1], loads[i].name) == 0)
			return loads[i].run(n, m);
	fprintf(stderr, "usage: machine_load memory|switches N | sleepers N WAKES\n");
	return 2;
}
