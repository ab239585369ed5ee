/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled with -finstrument-functions: every function tells when it begins and ends.
 */
#include <setjmp.h>
#include <stdio.h>

#define UNTOLD __attribute__((no_instrument_function))

static unsigned long n_ackermann, n_thrower, n_jumped, n_inlined, n_around, n_caller;
static jmp_buf out;

static unsigned ackermann(unsigned m, unsigned n)
{
	n_ackermann++;
	if (!m)
		return n + 1;
	return n ? ackermann(m - 1, ackermann(m, n - 1)) : ackermann(m - 1, 1);
}

static void thrower(void)
{
	n_thrower++;
	longjmp(out, 1);
}

static void jumped(void)
{
	n_jumped++;
	if (!setjmp(out))
		thrower();
}

/* Compiled into who calls them. */
#define INLINED static inline __attribute__((always_inline))

INLINED void inlined(void)
{
	n_inlined++;
}

INLINED void around(void)
{
	n_around++;
	inlined();
	inlined();
}

static void caller(void)
{
	n_caller++;
	around();
	inlined();
}

int main(void)
{
	unsigned v = ackermann(2, 9);

	for (int i = 0; i < 1000; i++)
		jumped();
	for (int i = 0; i < 100; i++)
		caller();
	printf("calls ackermann %lu\ncalls thrower %lu\ncalls jumped %lu\ncalls main 1\n",
	       n_ackermann, n_thrower, n_jumped);
	printf("calls inlined %lu\ncalls around %lu\ncalls caller %lu\n", n_inlined,
	       n_around, n_caller);
	return v != 21;
}
