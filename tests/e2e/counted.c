/* SPDX-License-Identifier: Apache-2.0
 *
 * Known numbers of known events: in each round FAULTS page faults in touch(), some CPU
 * time in burn() and one wait in nap().
 *
 *	usage: counted ROUNDS
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))
#define FAULTS	 256
#define PAGE	 4096

static volatile uint64_t sink;

NOINLINE static void touch(volatile char *pages)
{
	for (size_t i = 0; i < FAULTS; i++)
		pages[i * PAGE] = 1;
}

NOINLINE static void burn(void)
{
	for (uint64_t i = 0; i < 1000000; i++)
		sink += i;
}

NOINLINE static void nap(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;
	char *pages = mmap(NULL, (size_t)FAULTS * PAGE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED || madvise(pages, (size_t)FAULTS * PAGE, MADV_NOHUGEPAGE))
		return 1;
	for (long i = 0; i < rounds; i++) {
		touch(pages);
		burn();
		nap();
		if (madvise(pages, (size_t)FAULTS * PAGE, MADV_DONTNEED) != 0)
			return 1;
	}
	return 0;
}
