/* SPDX-License-Identifier: Apache-2.0
 *
 * remap - two functions take turns at one address.
 *
 * Each is alone in a page of the program's file, and that page is mapped where the other
 * was.  second() does three times the work of first().
 *
 *	usage: remap [TURNS]	(800: about a second)
 */
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../workloads/workload.h"

#define PAGE  4096
#define STEPS 300000

typedef unsigned long work_fn(unsigned long x);

__attribute__((section(".text.first"), aligned(PAGE))) NOINLINE static unsigned long
first(unsigned long x)
{
	return WORKLOAD_STEPS(x, STEPS);
}

__attribute__((section(".text.second"), aligned(PAGE))) NOINLINE static unsigned long
second(unsigned long x)
{
	return WORKLOAD_STEPS(x ^ 1, 3 * STEPS);
}

struct place {
	uintptr_t addr;
	off_t off; /* in the program's file */
};

/* The program itself comes first. */
static int find_place(struct dl_phdr_info *info, size_t size, void *ctx)
{
	struct place *p = ctx;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *h = &info->dlpi_phdr[i];
		uintptr_t off = p->addr - info->dlpi_addr - h->p_vaddr;

		if (h->p_type == PT_LOAD && off < h->p_filesz)
			p->off = (off_t)(h->p_offset + off);
	}
	return 1;
}

static work_fn *map_at(void *addr, int fd, work_fn *fn)
{
	struct place p = { .addr = (uintptr_t)fn, .off = -1 };
	void *got;

	dl_iterate_phdr(find_place, &p);
	if (p.off < 0)
		return NULL;
	got = mmap(addr, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, fd, p.off);
	return got == MAP_FAILED ? NULL : (work_fn *)(uintptr_t)got;
}

int main(int argc, char **argv)
{
	long turns = workload_arg(argc, argv, 1, 800);
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	void *addr = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long x = 1;

	if (fd < 0 || addr == MAP_FAILED)
		return 1;
	for (long i = 0; i < turns; i++) {
		work_fn *fn = map_at(addr, fd, i % 2 ? second : first);

		if (!fn)
			return 1;
		x = fn(x);
	}
	printf("%lx\n", x);
	return 0;
}
