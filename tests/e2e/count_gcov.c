/* SPDX-License-Identifier: Apache-2.0
 * Branches, loops and calls of all kinds, of which a compiler counts the lines. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static unsigned sum;

static int classify(int n)
{
	switch (n % 8) {
	case 0:
		return 1;
	case 1:
		sum += 3;
		return 2;
	case 2:
	case 3:
		sum ^= 5;
		break;
	case 4:
		sum -= 2;
		/* fall through */
	case 5:
		sum++;
		break;
	default:
		return n & 1 ? 7 : 9;
	}
	return 0;
}

static int deep(int n)
{
	if (n < 2)
		return n;
	return deep(n - 1) + deep(n - 2);
}

static void leave(int n)
{
	if (n > 3)
		longjmp(back, n);
	leave(n + 1);
	sum += 1000;
}

static int twice(int n)
{
	return 2 * n;
}

static int thrice(int n)
{
	return 3 * n;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void jump_about(void)
{
	for (volatile int i = 0; i < 50; i++) {
		if (setjmp(back)) {
			sum++;
			continue;
		}
		leave(i % 4);
		sum += 100;
	}
}

int main(void)
{
	int (*const ways[])(int) = { twice, thrice, classify };
	int numbers[100];

	for (int i = 0; i < 1000; i++)
		sum += (unsigned)classify(i);
	for (int i = 0; i < 300; i++)
		sum += (unsigned)ways[i % 3](i);
	for (int i = 0; i < 100; i++)
		numbers[i] = i * 37 % 101;
	qsort(numbers, 100, sizeof(numbers[0]), compare);
	jump_about();
	sum += (unsigned)deep(12);
	while (sum & 0xf0)
		sum--;
	do {
		sum += 7;
	} while (sum % 16);
	printf("%u %d\n", sum, numbers[3]);
	return 0;
}
