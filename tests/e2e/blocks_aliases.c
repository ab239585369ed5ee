/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that is written at one address and executed at another, as compilers do it that
 * must not have memory with both rights.  Says what it saw.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE   4096
#define PAGES  4
#define ROUNDS 400

typedef uint32_t number(void);

static int file;
static uint8_t *code; /* executable */

static uint8_t *map(size_t bytes, int prot, off_t off)
{
	uint8_t *p = mmap(NULL, bytes, prot, MAP_SHARED, file, off);

	if (p == MAP_FAILED)
		abort();
	return p;
}

/* mov $n, %eax; ret */
static void put(uint8_t *to, uint32_t n)
{
	*to = 0xb8;
	memcpy(to + 1, &n, 4);
	to[5] = 0xc3;
}

static uint32_t call(size_t at)
{
	return ((number *)(uintptr_t)(code + at))();
}

static size_t place(uint32_t i)
{
	return i % 7 * 600 + 3;
}

static void say(const char *what, uint32_t right)
{
	printf("%s %u of %u\n", what, right, ROUNDS);
}

/* One view stays. */
static void lasting(void)
{
	uint8_t *write = map(PAGES * PAGE, PROT_READ | PROT_WRITE, 0);
	uint32_t right = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		put(write + place(i), i);
		right += call(place(i)) == i && (i < 7 || call(place(i + 1)) == i - 6);
	}
	munmap(write, PAGES * PAGE);
	say("lasting", right);
}

/* A view for each write, of the page that it is on. */
static void passing(void)
{
	uint32_t right = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		size_t page = i % PAGES * PAGE;
		uint8_t *write = map(PAGE, PROT_READ | PROT_WRITE, (off_t)page);

		put(write + 100, i ^ 0x1234);
		munmap(write, PAGE);
		right += call(page + 100) == (i ^ 0x1234);
	}
	say("passing", right);
}

/* Its rights come and go, and so does its place. */
static void changing(void)
{
	uint8_t *write = map(PAGES * PAGE, PROT_READ, 0);
	uint32_t right = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (i % 3 == 0)
			write = mremap(write, PAGES * PAGE, PAGES * PAGE,
				       MREMAP_MAYMOVE | MREMAP_FIXED,
				       (uint8_t *)0x200000000000 + (i & 1) * 0x100000);
		mprotect(write, PAGES * PAGE, PROT_READ | PROT_WRITE);
		put(write + place(i), i * 3);
		right += call(place(i)) == i * 3;
		mprotect(write, PAGES * PAGE, PROT_READ);
		right -= call(place(i)) != i * 3;
	}
	munmap(write, PAGES * PAGE);
	say("changing", right);
}

/* By the kernel: to the file, and to memory. */
static void by_kernel(void)
{
	uint8_t *view = map(PAGES * PAGE, PROT_READ | PROT_WRITE, 0), bytes[6];
	uint32_t right = 0;
	int pipes[2];

	if (pipe(pipes) != 0)
		abort();
	for (uint32_t i = 0; i < ROUNDS; i++) {
		int is_moved;

		put(bytes, i + 5);
		if (i % 2)
			is_moved = pwrite(file, bytes, 6, (off_t)place(i)) == 6;
		else
			is_moved = write(pipes[1], bytes, 6) == 6 &&
				   read(pipes[0], view + place(i), 6) == 6;
		right += is_moved && call(place(i)) == i + 5;
	}
	munmap(view, PAGES * PAGE);
	say("by the kernel", right);
}

static uint8_t *shared_view;
static _Atomic uint32_t wanted;

static void *rewrite(void *unused)
{
	for (uint32_t n = 1; n <= ROUNDS; n++) {
		/* within one line of the cache */
		atomic_store((_Atomic uint32_t *)(void *)(shared_view + 0x104), n);
		while (atomic_load(&wanted) != n)
			sched_yield();
	}
	return unused;
}

/* While another thread executes it: 0: it saw each change. */
static void meanwhile(void)
{
	pthread_t t;
	uint32_t seen = 0, last = 0;

	shared_view = map(PAGES * PAGE, PROT_READ | PROT_WRITE, 0);
	put(shared_view + 0x103, 0);
	pthread_create(&t, NULL, rewrite, NULL);
	while (last < ROUNDS) {
		uint32_t n = call(0x103);

		seen += n == last + 1;
		if (n == last)
			sched_yield();
		last = n;
		atomic_store(&wanted, n);
	}
	pthread_join(t, NULL);
	munmap(shared_view, PAGES * PAGE);
	say("meanwhile", seen);
}

/* A page that can be written itself, and at another address as well. */
static void both(void)
{
	uint8_t *here = map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
	uint8_t *there = map(PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, 0);
	uint32_t right = 0;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		put((i & 1 ? here : there) + 64, i);
		right += ((number *)(uintptr_t)(here + 64))() == i &&
			 ((number *)(uintptr_t)(there + 64))() == i && call(64) == i;
	}
	munmap(here, PAGE);
	munmap(there, PAGE);
	say("both", right);
}

static void child(void)
{
	int status = 1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		lasting();
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	printf("child %d\n", status);
}

int main(void)
{
	file = memfd_create("code", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, PAGES * PAGE) != 0)
		return 2;
	code = map(PAGES * PAGE, PROT_READ | PROT_EXEC, 0);
	lasting();
	passing();
	changing();
	by_kernel();
	meanwhile();
	both();
	child();
	return 0;
}
