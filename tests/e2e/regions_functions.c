/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled with -finstrument-functions: every function tells when it begins and ends.
 */
#include <dwell.h>
#include <setjmp.h>
#include <stdio.h>

#define UNTOLD __attribute__((no_instrument_function))

static unsigned long n_ackermann, n_thrower, n_jumped, n_inlined, n_around, n_caller;
static unsigned long n_nested, n_holder, n_leaver, n_after, n_behind;
static jmp_buf out;

DWELL_REGION(held, "held", NULL);
DWELL_REGION(behind, "behind", NULL);

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

/* The innermost jumps into the outermost, which returns. */
static __attribute__((noinline)) void nested(int n)
{
	n_nested++;
	if (n == 3) {
		if (!setjmp(out))
			nested(n - 1);
		return;
	}
	if (n)
		nested(n - 1);
	longjmp(out, 1);
}

/* Is left with a region of its own, from further in than what is called next. */
static __attribute__((noinline)) void holder(void)
{
	volatile char deep[512] = { 0 };

	(void)deep[0];
	n_holder++;
	dwell_begin(&held);
	longjmp(out, 1);
}

static __attribute__((noinline)) void after(void)
{
	n_after++;
}

static void leaver(void)
{
	n_leaver++;
	if (!setjmp(out))
		holder();
	after();
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
	for (int i = 0; i < 100; i++) {
		nested(3);
		dwell_begin(&behind);
		n_behind++;
		dwell_end(&behind);
		leaver();
		caller();
	}
	printf("calls ackermann %lu\ncalls thrower %lu\ncalls jumped %lu\ncalls main 1\n",
	       n_ackermann, n_thrower, n_jumped);
	printf("calls inlined %lu\ncalls around %lu\ncalls caller %lu\n", n_inlined,
	       n_around, n_caller);
	printf("calls nested %lu\ncalls behind %lu\ncalls leaver %lu\ncalls holder %lu\n",
	       n_nested, n_behind, n_leaver, n_holder);
	printf("calls held %lu\ncalls after %lu\n", n_holder, n_after);
	return v != 21;
}
