/* SPDX-License-Identifier: Apache-2.0
 *
 * fpe_compiled N MS - makes N functions as it runs, each in the page behind the one
 * before and MS milliseconds after it; each divides by zero once.  A map of them is in
 * /tmp/perf-PID.map: prints PID.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef double divide_fn(double a, double b);

/* divsd %xmm1,%xmm0; ret */
static const unsigned char divide[] = { 0xf2, 0x0f, 0x5e, 0xc1, 0xc3 };

static divide_fn *compile(unsigned char *at, size_t size)
{
	if (mprotect(at, size, PROT_READ | PROT_WRITE) != 0)
		abort();
	memcpy(at, divide, sizeof(divide));
	if (mprotect(at, size, PROT_READ | PROT_EXEC) != 0)
		abort();
	return (divide_fn *)at;
}

int main(int argc, char **argv)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	useconds_t us = argc > 2 ? 1000 * (useconds_t)strtoul(argv[2], NULL, 10) : 0;
	unsigned char *code =
		mmap(NULL, n * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile double one = 1, zero = 0;
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (!map || code == MAP_FAILED)
		return 1;
	printf("%d\n", (int)getpid());
	fflush(stdout);
	for (size_t i = 0; i < n; i++) {
		unsigned char *at = code + i * page;
		divide_fn *f = compile(at, page);

		fprintf(map, "%lx %zx compiled_%zu\n", (unsigned long)at, sizeof(divide),
			i);
		fflush(map);
		one = f(1 + one, zero) > 0;
		usleep(us);
	}
	_exit(0);
}
