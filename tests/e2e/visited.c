/* SPDX-License-Identifier: Apache-2.0
 *
 * visited [busy] - a program that is traced for a while of its life, and counts what it
 * does.  With busy threads of it look all the time whether anything is as it was not.
 * Does what lines of its input say, and answers each:
 *	calls		takes and gives back memory, some of it older
 *	open LIBRARY	loads a library that takes memory
 *	fork		makes a child that takes memory, and lives until the end
 *	wrong		how much was wrong so far
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define N_OLD	 16

static _Atomic unsigned n_wrong, n_rounds;
static _Atomic int is_over;
static char *old[N_OLD];
static void *volatile kept;
static pid_t child;

static void check(int is_right)
{
	if (!is_right)
		n_wrong++;
}

NOINLINE void *in_thread(void *arg)
{
	for (int i = 0; i < 1000; i++) {
		kept = malloc((size_t)i + 1);
		free(kept);
	}
	return arg;
}

/* 2000 blocks in threads, 4 that are older change their size, 4 are given back; of 3 + 2
 * + 1 new ones the last is left. */
NOINLINE void calls(void)
{
	static unsigned n_calls;
	void *few[5];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, in_thread, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < 4; i++) {
		char **p = &old[(n_calls + i) % N_OLD];

		*p = realloc(*p, 3000);
		check(*p && (*p)[0] == 'x' && (*p)[999] == 'x');
	}
	for (unsigned i = 4; i < 8; i++) {
		free(old[(n_calls + i) % N_OLD]);
		old[(n_calls + i) % N_OLD] = NULL;
	}
	n_calls += 8;
	for (int i = 0; i < 3; i++)
		few[i] = malloc(50);
	for (int i = 3; i < 5; i++)
		few[i] = calloc(5, 11);
	for (int i = 0; i < 5; i++)
		free(few[i]);
	kept = strdup("left behind");
}

static void open_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void (*take)(void) = library ? (void (*)(void))dlsym(library, "take") : NULL;

	check(take != NULL);
	/* whoever traces sees the library a moment later */
	for (int i = 0; take && i < 400; i++) {
		take();
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
}

NOINLINE void in_child(void)
{
	for (int i = 0; i < 7; i++)
		kept = malloc(123);
}

static void make_child(void)
{
	int both[2], told[2];
	char c = 0;

	if (pipe(both) < 0 || pipe(told) < 0)
		exit(3);
	child = fork();
	if (child == 0) {
		close(both[1]);
		in_child();
		check(write(told[1], &c, 1) == 1);
		check(read(both[0], &c, 1) == 0); /* until its parent ends */
		_exit(n_wrong != 0);
	}
	close(both[0]);
	check(read(told[0], &c, 1) == 1);
}

static void *use_memory(void *arg)
{
	while (!is_over) {
		size_t size = 1 + (size_t)(rand_r(&(unsigned){ n_rounds }) % 5000);
		char *p = malloc(size);

		memset(p, (int)size, size);
		p = realloc(p, size * 2);
		check(p[0] == (char)size && p[size - 1] == (char)size);
		errno = 77;
		free(p);
		check(errno == 77);
		n_rounds++;
	}
	return arg;
}

static void *use_numbers(void *arg)
{
	volatile double a = 1.1, b = 2.3;

	while (!is_over) {
		double sum = 0;

		for (int i = 0; i < 1000; i++)
			sum += a * i - b;
		check(sum == ((double *)arg)[0] || ((double *)arg)[0] == 0);
		((double *)arg)[0] = sum;
	}
	return arg;
}

static void *sleep_well(void *arg)
{
	while (!is_over)
		check(nanosleep(&(struct timespec){ .tv_nsec = 3000000 }, NULL) == 0);
	return arg;
}

static void *wait_for_nothing(void *arg)
{
	struct epoll_event event;
	int fd = epoll_create1(0);

	while (!is_over)
		check(epoll_wait(fd, &event, 1, 20) == 0);
	return arg;
}

static void start(void)
{
	static double number;
	static void *(*const what[])(void *) = { use_memory, use_memory, use_numbers,
						 sleep_well, wait_for_nothing };

	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++) {
		pthread_t t;

		pthread_create(&t, NULL, what[i], &number);
		pthread_detach(t);
	}
}

static void obey(char *line)
{
	line[strcspn(line, "\n")] = 0;
	if (!strcmp(line, "calls"))
		calls();
	else if (!strncmp(line, "open ", 5))
		open_library(line + 5);
	else if (!strcmp(line, "fork"))
		make_child();
	else
		check(!strcmp(line, "wrong"));
}

int main(int argc, char **argv)
{
	static char line[4096], in[BUFSIZ], out[BUFSIZ];

	setvbuf(stdin, in, _IOFBF, sizeof(in));
	setvbuf(stdout, out, _IOLBF, sizeof(out));
	for (int i = 0; i < N_OLD; i++) {
		old[i] = malloc(1000);
		memset(old[i], 'x', 1000);
	}
	if (argc > 1 && !strcmp(argv[1], "busy"))
		start();
	printf("ready\n");
	while (fgets(line, sizeof(line), stdin)) {
		obey(line);
		printf("%u wrong in %u rounds, child %d\n", n_wrong, n_rounds, child);
	}
	is_over = 1;
	return n_wrong != 0;
}
