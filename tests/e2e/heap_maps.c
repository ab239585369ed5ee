/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_maps - maps memory itself, in ways of which the truth is known by counting the
 * lines below, in pages.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noinline, noclone))
#endif

static size_t page;

static char *get(size_t pages)
{
	char *p = mmap(NULL, pages * page, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static void check(int is_right)
{
	if (!is_right)
		abort();
}

/* 5 pages and a part of one. */
NOINLINE void kept(void)
{
	check(mmap(NULL, 5 * page + 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	      MAP_FAILED);
}

NOINLINE void given_back(void)
{
	check(munmap(get(100), 100 * page) == 0);
}

/* 10, of which 2 in the middle and 1 at the end go: 7. */
NOINLINE void in_part(void)
{
	char *p = get(10);

	check(munmap(p + 4 * page, 2 * page) == 0);
	check(munmap(p + 9 * page, page) == 0);
}

/* 8, of which others take 3. */
NOINLINE char *below(void)
{
	return get(8);
}

NOINLINE void above(char *p)
{
	check(mmap(p + page, 3 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		   -1, 0) == p + page);
}

/* Once mapped, 4; remapped to 20; what fails changes nothing. */
NOINLINE void grown(void)
{
	char *p = get(4);

	p = mremap(p, 4 * page, 20 * page, MREMAP_MAYMOVE);
	check(p != MAP_FAILED);
	check(mremap(p, 20 * page, SIZE_MAX / 2, MREMAP_MAYMOVE) == MAP_FAILED);
	check(mremap(p + 1, page, page, 0) == MAP_FAILED && errno == EINVAL);
	check(munmap(p + 1, page) < 0 && munmap(p, 0) < 0);
}

/* 3 pages up, 1 down. */
NOINLINE void broken(void)
{
	char *was = sbrk((intptr_t)(3 * page));

	check(was != (void *)-1);
	check(brk(was + 2 * page) == 0);
	check(sbrk(0) == was + 2 * page);
	brk((void *)1);
	check(sbrk(0) == was + 2 * page);
}

int main(void)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	kept();
	given_back();
	in_part();
	above(below());
	grown();
	broken();
	printf("%zu\n", page);
	return 0;
}
