/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes a block and keeps it, takes another and gives it back, divides by zero, and says
 * after each such step how many there were and when: usage: heap_lasting FILE STEPS
 * CHILD_STEPS.  A child does the same at the beginning, and ends; nobody waits for it
 * then.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* pid, steps, time in ns. */
struct line {
	uint64_t of[3];
};

static void *volatile kept;

__attribute__((noinline)) static void keep(void)
{
	kept = malloc(100);
}

__attribute__((noinline)) static void churn(void)
{
	void *volatile p = malloc(200);

	free(p);
}

__attribute__((noinline)) static void divide(void)
{
	static volatile double one = 1, zero, result;

	result = one / zero;
	(void)result;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void take_steps(int fd, uint64_t n)
{
	for (uint64_t i = 1; i <= n; i++) {
		churn();
		keep();
		divide();

		struct line l = { { (uint64_t)getpid(), i, now_ns() } };

		if (write(fd, &l, sizeof(l)) != sizeof(l))
			_exit(1);
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	int fd = argc == 4 ? open(argv[1], O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;

	if (fd < 0)
		return 1;
	signal(SIGCHLD, SIG_IGN);
	if (fork() == 0) {
		take_steps(fd, strtoull(argv[3], NULL, 10));
		return 0;
	}
	take_steps(fd, strtoull(argv[2], NULL, 10));
	wait(NULL);
	return 0;
}
