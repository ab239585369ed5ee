/* SPDX-License-Identifier: Apache-2.0
 *
 * victim_memory - stacks of all kinds, limits of memory and of files, what is mapped.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "victim.h"

static void deleted_directory(const char *arg)
{
	char path[] = "/tmp/victim-XXXXXX", cwd[4096];

	(void)arg;
	if (!mkdtemp(path) || chdir(path) < 0 || rmdir(path) < 0)
		die("mkdtemp");
	burn(20);
	if (fork() == 0) {
		burn(5);
		_exit(0);
	}
	wait(NULL);
	printf("getcwd %s\n", getcwd(cwd, sizeof(cwd)) ? "works" : "fails");
}

static void close_all(int first, int last)
{
	for (int fd = first; fd <= last; fd++)
		close(fd);
}

static void closed_descriptors(const char *arg)
{
	int out = dup2(1, 200), status;

	(void)arg;
	close_all(3, 199);
	close_all(201, 1023);
	burn(30);

	int next = open("/dev/null", O_RDONLY);

	dprintf(out, "next descriptor %d\n", next);
	if (fork() == 0) {
		close_all(0, 1023);
		burn(10);
		_exit(open("/dev/null", O_RDONLY) + 40);
	}
	wait(&status);
	dprintf(out, "child %d\n", WEXITSTATUS(status));
}

static void limits(const char *arg)
{
	(void)arg;
	burn(20);
	for (int i = 0; i < 16; i++) {
		struct rlimit r;

		if (getrlimit(i, &r) == 0)
			printf("limit %d %lld %lld\n", i, (long long)r.rlim_cur,
			       (long long)r.rlim_max);
	}
	printf("nice %d next %d\n", getpriority(PRIO_PROCESS, 0), dup(1));
}

static void *burn_small(void *ret)
{
	spin(10);
	take_and_wait();
	return ret;
}

/* In steps of 16 MiB, as the recorder's own part of the limit is smaller. */
static void out_of_memory(const char *mib)
{
	struct rlimit r = { (rlim_t)atoi(mib) << 20, (rlim_t)atoi(mib) << 20 };
	pthread_t t;
	int n = 0;
	pid_t pid;

	if (setrlimit(RLIMIT_AS, &r) < 0)
		die("setrlimit");
	while (n < 1000 && mmap(NULL, 16 << 20, PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
		n++;
	while (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED)
		;
	burn(20);
	printf("errno %d, %s\n", errno, n < 1000 ? "the limit is met" : "no limit");
	printf("no thread: %d\n", pthread_create(&t, NULL, burn_small, NULL));
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		burn(20);
		_exit(3);
	}

	int status = 0;

	waitpid(pid, &status, 0);
	printf("child %x\n", status);
}

static void on_stack(size_t size)
{
	char *p = mmap(NULL, size + 4096, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t attr;
	pthread_t t;
	int rc;

	if (p == MAP_FAILED || mprotect(p, 4096, PROT_NONE) < 0)
		die("mmap");
	pthread_attr_init(&attr);
	rc = pthread_attr_setstack(&attr, p + 4096, size);
	if (!rc)
		rc = pthread_create(&t, &attr, burn_small, NULL);
	if (!rc)
		rc = pthread_join(t, NULL);
	printf("stack of %zu: %d\n", size, rc);
}

static void small_stacks(const char *arg)
{
	(void)arg;
	take_and_wait(); /* symbols are bound now, which takes a stack */
	on_stack(16384);
	on_stack(65536);
	on_stack(1 << 20);
}

#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
#include <ucontext.h>

static ucontext_t back, there[3];

static void routine(int i)
{
	for (int n = 0; n < 5; n++) {
		spin(3);
		if (n == 0)
			take_and_wait();
		swapcontext(&there[i], &back);
	}
	n_seen++;
}

/* Coroutines on small stacks of their own, as event loops have them. */
static void coroutines(const char *size)
{
	size_t bytes = (size_t)atoi(size);

	take_and_wait(); /* symbols are bound now, which takes a stack */
	for (int i = 0; i < 3; i++) {
		char *p = mmap(NULL, bytes + 4096, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (p == MAP_FAILED || mprotect(p, 4096, PROT_NONE) < 0)
			die("mmap");
		getcontext(&there[i]);
		there[i].uc_stack.ss_sp = p + 4096;
		there[i].uc_stack.ss_size = bytes;
		there[i].uc_link = &back;
		makecontext(&there[i], (void (*)(void))(void *)routine, 1, i);
	}
	for (int n = 0; n < 6; n++)
		for (int i = 0; i < 3; i++)
			swapcontext(&back, &there[i]);
	printf("routines %d\n", n_seen);
}
#else
static void coroutines(const char *size)
{
	(void)size;
}
#endif

/* Files that are mapped, without addresses; not what a recorder maps. */
static void mapped_files(const char *arg)
{
	FILE *f = fopen("/proc/self/maps", "r");
	char line[PATH_MAX + 128], *name;

	while (fgets(line, sizeof(line), f))
		if ((name = strpbrk(line, "/[")) && (!*arg || !strstr(name, arg)))
			printf("%.4s %s", strchr(line, ' ') + 1, name);
	fclose(f);
}

const struct deed memory_deeds[] = {
	{ "directory", deleted_directory },
	{ "descriptors", closed_descriptors },
	{ "limits", limits },
	{ "out-of-memory", out_of_memory },
	{ "small-stacks", small_stacks },
	{ "coroutines", coroutines },
	{ "maps", mapped_files },
	{ 0 },
};
