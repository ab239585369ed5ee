/* SPDX-License-Identifier: Apache-2.0
 * Functions that are entered a known number of times. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

/* Of clang there are no clones. */
#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone))
#endif

int leaf(int n), left(int n), right(int n), branch(int n), deep(int n);
void jump(int n);

static volatile int sum;
static jmp_buf back;

ALONE int leaf(int n)
{
	return n ^ sum;
}

ALONE int left(int n)
{
	return n + sum;
}

ALONE int right(int n)
{
	return n - sum;
}

ALONE int branch(int n)
{
	if (n % 3 == 0)
		return leaf(n);
	return n % 5 ? left(n) : right(n);
}

ALONE int deep(int n)
{
	return n < 2 ? n : deep(n - 1) + deep(n - 2) + sum;
}

ALONE void jump(int n)
{
	if (n >= 0)
		longjmp(back, n + 1);
	abort();
}

static int compare(const void *a, const void *b)
{
	return leaf(*(const int *)a) < leaf(*(const int *)b);
}

int main(void)
{
	static int (*const ways[])(int) = { left, right, leaf, branch, deep };
	int numbers[] = { 3, 1, 2 };

	for (int i = 0; i < 3000; i++)
		sum += branch(i) & 1;
	for (int i = 0; i < 1000; i++)
		sum ^= ways[i % 5](i % 5);
	sum += deep(15);
	for (volatile int i = 0; i < 100; i++)
		if (!setjmp(back))
			jump(i);
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	return printf("%d\n", numbers[0]) != 2;
}
