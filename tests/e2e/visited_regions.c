/* SPDX-License-Identifier: Apache-2.0
 *
 * visited_regions - a program that marks what it does, and is observed for a while of its
 * life; its functions tell of themselves, too.  Does what lines of its input say, and
 * answers each:
 *	calls N		works N times, in a thread of its own as well, which ends
 *	open, close	begins a region, ends it
 *	fork N		makes a child that works N times, and lives until the end
 *	load LIBRARY N	has a library that marks, too, work N times once it is heard
 *	unload		has it no more
 *	mark NAME	ends an interval
 *	heard		who is: the program, and the library that it has loaded
 *	leave N		works N times, and ends at once
 */
#include <dlfcn.h>
#include <dwell.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNTOLD	 __attribute__((no_instrument_function))
#define NOINLINE __attribute__((noinline))

DWELL_REGION(around, "around", NULL);
DWELL_REGION(work, "work", "group");
DWELL_REGION(open_region, "open", NULL);
DWELL_REGION(done, "done", NULL);

static pid_t child;
static void *library;
static int (*library_is_heard)(void);
static void *volatile taken;

NOINLINE void told_of_itself(void)
{
	dwell_begin(&work);
	dwell_count(&done, 2);
	dwell_end(&work);
}

UNTOLD static void *work_often(void *n)
{
	dwell_begin(&around);
	for (uintptr_t i = 0; i < (uintptr_t)n; i++)
		told_of_itself();
	dwell_end(&around);
	return NULL;
}

UNTOLD static void *work_in_thread(void *n)
{
	dwell_name_thread("worker");
	return work_often(n);
}

UNTOLD static void calls(uintptr_t n)
{
	pthread_t thread;

	work_often((void *)n);
	if (pthread_create(&thread, NULL, work_in_thread, (void *)n) != 0)
		abort();
	pthread_join(thread, NULL);
}

UNTOLD static void make_child(uintptr_t n)
{
	int ends[2], is_done = 0;

	if (pipe(ends) != 0)
		abort();
	child = fork();
	if (!child) {
		taken = malloc(100);
		free(taken);
		work_often((void *)n);
		if (write(ends[1], "x", 1) != 1)
			abort();
		for (;;)
			pause();
	}
	if (read(ends[0], &is_done, 1) != 1)
		abort();
}

UNTOLD static void load(const char *path, unsigned n)
{
	void (*works)(unsigned) = NULL;

	library = dlopen(path, RTLD_NOW);
	if (library)
		works = (void (*)(unsigned))dlsym(library, "library_works");
	if (!works)
		abort();
	library_is_heard = (int (*)(void))dlsym(library, "library_is_heard");
	while (!library_is_heard())
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	works(n);
}

UNTOLD static void unload(void)
{
	library_is_heard = NULL;
	if (dlclose(library) != 0)
		abort();
}

UNTOLD static void obey(char *line)
{
	unsigned n = 0;
	char text[256] = "";

	if (sscanf(line, "calls %u", &n) == 1)
		calls(n);
	else if (sscanf(line, "fork %u", &n) == 1)
		make_child(n);
	else if (sscanf(line, "load %255s %u", text, &n) == 2)
		load(text, n);
	else if (sscanf(line, "mark %255s", text) == 1)
		dwell_mark(text);
	else if (strcmp(line, "unload\n") == 0)
		unload();
	else if (strcmp(line, "open\n") == 0)
		dwell_begin(&open_region);
	else if (strcmp(line, "close\n") == 0)
		dwell_end(&open_region);
	else if (sscanf(line, "leave %u", &n) == 1) {
		work_often((void *)(uintptr_t)n);
		exit(0);
	}
	printf("%d %d %d\n", dwell_recorder() != NULL,
	       library_is_heard && library_is_heard(), (int)child);
}

UNTOLD int main(void)
{
	char line[512];

	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	if (child)
		kill(child, SIGKILL);
	return 0;
}
