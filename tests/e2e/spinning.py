# SPDX-License-Identifier: Apache-2.0
"""A program in C whose time is spent in one loop of an inlined function."""

LOOP = (4, 5)  # its lines


def source(part):
    """Spins for a second divided by this number."""
    return '''#include <time.h>
static inline __attribute__((always_inline)) unsigned long mix(unsigned long x)
{
	for (int i = 0; i < 1000000; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}
__attribute__((noinline)) static unsigned long work(unsigned long x)
{
	return mix(x) + 1;
}
int main(void)
{
	volatile unsigned long x = 1;

	for (clock_t end = clock() + CLOCKS_PER_SEC / %d; clock() < end;)
		x = work(x);
	return 0;
}
''' % part
