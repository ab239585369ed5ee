/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_lost WAY_OUT [FILE] - leaves blocks behind of which something still points to
 * some, and ends in that way.  Each function's name says what is true of what it takes.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* clang makes no clones, and does not know how to be told. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

/* Nothing of it is left in what is not yet written. */
static NOINLINE void *take(size_t size)
{
	void **p = malloc(size);

	if (!p)
		abort();
	memset(p, 0, size);
	return p;
}

static void *volatile kept, *volatile kept_list, *volatile kept_within,
							 *volatile kept_array;
static void *volatile kept_large;
static void **volatile mapped;
static __thread void *volatile of_thread;
static pthread_barrier_t barrier;

/* A chain of blocks, of which only the first is pointed to by anything else. */
static NOINLINE void **chain(size_t n, size_t size)
{
	void **first = NULL;

	for (size_t i = 0; i < n; i++) {
		void **p = take(size);

		p[0] = first;
		first = p;
	}
	return first;
}

NOINLINE void reached_by_data(void)
{
	kept = take(100);
}

NOINLINE void reached_by_blocks(void)
{
	kept_list = chain(10, 48);
}

NOINLINE void reached_by_mapping(void)
{
	mapped = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	mapped[7] = take(200);
}

/* In the middle of a file of which nothing else was ever touched. */
NOINLINE void reached_by_file(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	off_t size = lseek(fd, 0, SEEK_END);
	void **at = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (fd < 0 || at == MAP_FAILED)
		abort();
	close(fd);
	at[(size_t)size / 2 / sizeof(*at)] = take(208);
}

NOINLINE void reached_behind_count(void)
{
	uint64_t *p = take(8 + 5 * 16);

	p[0] = 5;
	kept_array = p + 1;
}

NOINLINE void reached_large(void)
{
	void **p = take(3 << 20);

	p[(2 << 20) / sizeof(*p)] = take(72);
	kept_large = p;
}

NOINLINE void possibly_by_data(void)
{
	kept_within = (char *)take(300) + 16;
	*(void **)((char *)kept_within + 8) = take(40);
}

NOINLINE void lost_at_once(void)
{
	void *volatile last; /* so that no call is the function's end */

	for (int i = 0; i < 20; i++)
		last = take(64);
	(void)last;
}

/* One is lost, the others with it. */
NOINLINE void lost_chain(void)
{
	void **volatile first = chain(30, 32);

	(void)first;
}

NOINLINE void lost_circle(void)
{
	void *volatile *a = take(56), *volatile *b = take(56);

	a[0] = (void *)b;
	b[0] = (void *)a;
}

/* What an allocator has back points to nothing. */
NOINLINE void lost_behind_freed(void)
{
	void *volatile *p = take(512);

	p[40] = take(88);
	free((void *)p);
}

/* Overwritten, as a caller's frames would be. */
static NOINLINE void clear_stack(void)
{
	volatile char frames[16384];

	for (size_t i = 0; i < sizeof(frames); i++)
		frames[i] = 0;
}

#ifdef __x86_64__
static volatile int is_in_register;

/* All that is left of the pointer is in a register while the thread waits. */
static void *reached_by_register(void *unused)
{
	uintptr_t hidden = ~(uintptr_t)take(216);

	(void)unused;
	clear_stack();
	__asm__ volatile("mov %1, %%rbx\n\t"
			 "not %%rbx\n\t"
			 "movl $1, %0\n"
			 "1: mov %2, %%eax\n\t"
			 "syscall\n\t"
			 "jmp 1b"
			 : "=m"(is_in_register)
			 : "r"(hidden), "i"(SYS_pause)
			 : "rax", "rbx", "rcx", "r11", "memory");
	return NULL;
}

static void wait_by_register(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, reached_by_register, NULL) != 0)
		exit(77);
	while (!is_in_register)
		sched_yield();
}
#else
static void wait_by_register(void)
{
}
#endif

/* A call that says EINTR to whoever is stopped in it. */
static void *waiting_thread(void *unused)
{
	struct epoll_event event;
	int fd = epoll_create1(EPOLL_CLOEXEC);

	(void)unused;
	pthread_barrier_wait(&barrier);
	epoll_wait(fd, &event, 1, -1);
	abort();
}

static void *reached_by_thread(void *unused)
{
	void *volatile on_stack = take(144);

	(void)unused;
	of_thread = take(152);
	pthread_barrier_wait(&barrier);
	pause();
	return on_stack;
}

static void *freeing_thread(void *unused)
{
	(void)unused;
	lost_behind_freed();
	clear_stack();
	return NULL;
}

static void leave(const char *way)
{
	if (strcmp(way, "_exit") == 0)
		_exit(0);
	if (strcmp(way, "exit") == 0)
		exit(0);
	if (strcmp(way, "kill") == 0)
		raise(SIGKILL);
	if (strcmp(way, "thread") == 0)
		pthread_exit(NULL);
}

int main(int argc, char **argv)
{
	pthread_t t, u;
	bool has_other = argc > 1 && strcmp(argv[1], "thread") != 0;

	reached_by_data();
	reached_by_blocks();
	reached_by_mapping();
	if (argc > 2)
		reached_by_file(argv[2]);
	reached_behind_count();
	reached_large();
	possibly_by_data();
	lost_at_once();
	lost_chain();
	lost_circle();
	lost_behind_freed();
	pthread_barrier_init(&barrier, NULL, 3);
	if (has_other && (pthread_create(&t, NULL, reached_by_thread, NULL) != 0 ||
			  pthread_create(&t, NULL, waiting_thread, NULL) != 0))
		return 77;
	if (has_other) {
		pthread_barrier_wait(&barrier);
		wait_by_register();
	}
	if (pthread_create(&u, NULL, freeing_thread, NULL) != 0)
		return 77;
	pthread_join(u, NULL);
	clear_stack();
	if (argc > 1)
		leave(argv[1]);
	return 0;
}
