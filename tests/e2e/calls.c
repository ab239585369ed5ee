/* SPDX-License-Identifier: Apache-2.0
 *
 * calls - makes system calls whose number, time and errors are known.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "waiter.h"

#define THREADS 1000

static void ask(long n)
{
	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
}

/* Frames of one size: where calls come from is told by return addresses alone. */
__attribute__((noinline)) static void asks_one_way(long n)
{
	volatile char room[64] = { 0 };

	ask(n);
	room[1] = room[0];
}

__attribute__((noinline)) static void asks_other_way(long n)
{
	volatile char room[64] = { 1 }; /* and functions that are not one */

	ask(n);
	room[1] = room[0];
}

/* The tables of the code that is run are read meanwhile. */
static void settle(void)
{
	asks_one_way(0);
	usleep(300000);
}

static void known(void)
{
	int pipe_fds[2];
	/* No constants, or the functions would be made anew for them. */
	volatile long one = 3000, other = 2000;
	char c;

	settle();
	for (int i = 0; i < 20; i++) {
		asks_one_way(one);
		asks_other_way(other);
	}
	for (int i = 0; i < 7000; i++)
		(void)!read(-1, &c, 1);
	if (pipe2(pipe_fds, O_NONBLOCK) == 0)
		(void)!read(pipe_fds[0], &c, 1);
}

static long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

/* Prints for how long, in ns: who is to go on may come late. */
static void sleeps(void)
{
	struct timespec t = { .tv_nsec = 20000000 };
	long begin = now_ns();

	for (int i = 0; i < 10; i++)
		nanosleep(&t, NULL);
	printf("%ld\n", now_ns() - begin);
}

static void *wait_for_ever(void *arg)
{
	say_who();
	for (;;)
		pause();
	return arg;
}

static pthread_t start(void *(*fn)(void *))
{
	pthread_t t;

	if (pthread_create(&t, NULL, fn, NULL) != 0)
		abort();
	return t;
}

static void killed(void)
{
	start(wait_for_ever);
	until_waiter_sleeps();
	sleep_ms(100);
	_exit(0);
}

static void on_signal(int signal)
{
	(void)signal;
}

/* Stopped and continued, a sleep is taken up again. */
static void interrupted(void)
{
	struct timespec t = { .tv_sec = 1 };
	pid_t me = getpid(), child;

	signal(SIGUSR1, on_signal);
	child = fork();
	if (!child) {
		usleep(100000);
		kill(me, SIGSTOP);
		usleep(50000);
		kill(me, SIGCONT);
		_exit(0);
	}
	nanosleep(&t, NULL);
	waitpid(child, NULL, 0);
}

static void *ask_a_hundred(void *arg)
{
	ask(100);
	return arg;
}

static void threads(void)
{
	static pthread_t all[THREADS];

	for (int i = 0; i < THREADS; i++)
		all[i] = start(ask_a_hundred);
	for (int i = 0; i < THREADS; i++)
		pthread_join(all[i], NULL);
}

/* One after the other, so that nothing depends on who is faster. */
static void family(void)
{
	char name[] = "true", *args[] = { name, NULL };
	pid_t child = fork();

	if (!child) {
		ask(10);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	child = vfork();
	if (!child) {
		execv("/bin/true", args);
		_exit(1);
	}
	waitpid(child, NULL, 0);
	raise(SIGUSR1);
	ask(5);
}

static void waits(void)
{
	puts("here");
	fflush(stdout);
	wait_for_ever(NULL);
}

static void asks(void)
{
	puts("here");
	fflush(stdout);
	for (;;)
		asks_one_way(100);
}

static void delayed(void)
{
	for (int i = 0; i < 100; i++)
		syscall(SYS_getpgid, 0);
	syscall(SYS_getpgid, 0);
	sleep(4); /* longer than the recorder waits */
	ask(1000);
}

/* A thousand calls for each byte that is read, which is answered then. */
static void paced(void)
{
	char c;

	while (read(0, &c, 1) == 1) {
		asks_one_way(1000);
		if (write(1, &c, 1) != 1)
			return;
	}
}

static const struct {
	const char *name;
	void (*fn)(void);
} modes[] = {
	{ "asks", asks },	{ "delayed", delayed },
	{ "family", family },	{ "interrupted", interrupted },
	{ "killed", killed },	{ "known", known },
	{ "paced", paced },	{ "sleeps", sleeps },
	{ "threads", threads }, { "waits", waits },
};

int main(int argc, char **argv)
{
	signal(SIGUSR1, on_signal);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (argc == 2 && !strcmp(argv[1], modes[i].name)) {
			modes[i].fn();
			return 0;
		}
	}
	return 2;
}
