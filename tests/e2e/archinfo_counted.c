/* SPDX-License-Identifier: Apache-2.0
 *
 * A program without any library, so that all that it executes is here: a loop whose
 * instructions are counted by hand, and ways that go several places.
 */
#include <stdint.h>

#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noinline, noclone, noipa))
#endif

int64_t table[16], total;

int64_t counted(int64_t turns);
void _start(void);

__asm__(".text\n"
	".type counted, @function\n"
	"counted:\n\t"
	"push %rbx\n\t"
	"xor %eax, %eax\n\t"
	"lea table(%rip), %rsi\n\t"
	"mov %rdi, %rcx\n"
	"1:\n\t"
	"mov (%rsi,%rax,8), %rdx\n\t"
	"add $1, %rax\n\t"
	"and $7, %eax\n\t"
	"add %rdx, 64(%rsi)\n\t"
	"mov total(%rip), %rbx\n\t"
	"mov %bl, (%rsi)\n\t"
	"addsd %xmm1, %xmm0\n\t"
	"paddd %xmm3, %xmm2\n\t"
	"test $1, %al\n\t"
	"jne 2f\n\t"
	"nop\n"
	"2:\n\t"
	"dec %rcx\n\t"
	"jne 1b\n\t"
	"lock incq total(%rip)\n\t"
	"pop %rbx\n\t"
	"ret\n"
	".size counted, .-counted\n");

ALONE static int64_t add(int64_t x)
{
	return x + 3;
}

ALONE static int64_t twice(int64_t x)
{
	return x * 2;
}

ALONE static int64_t thrice(int64_t x)
{
	return x * 3;
}

/* 300 calls by pointer from one site, 200 of them to the same. */
ALONE static int64_t by_pointer(int64_t x)
{
	static int64_t (*volatile const functions[])(int64_t) = { add, add, twice,
								  add, add, thrice };

	for (int i = 0; i < 300; i++)
		x = functions[i % 6](x);
	return x;
}

static int64_t collatz(uint64_t n)
{
	int64_t steps = 0;

	for (; n != 1; steps++)
		n = n % 2 ? 3 * n + 1 : n / 2;
	return steps;
}

static int64_t sort(void)
{
	static int64_t numbers[200];

	for (int64_t i = 0; i < 200; i++)
		numbers[i] = i * 7919 % 211;
	for (int i = 1; i < 200; i++)
		for (int k = i; k > 0 && numbers[k - 1] > numbers[k]; k--) {
			int64_t x = numbers[k];

			numbers[k] = numbers[k - 1];
			numbers[k - 1] = x;
		}
	return numbers[100];
}

ALONE __attribute__((used)) int64_t work(void)
{
	int64_t sum = counted(1000) + by_pointer(1) + sort();

	for (uint64_t i = 1; i < 200; i++)
		sum += collatz(i);
	return sum & 1;
}

__asm__(".globl _start\n"
	"_start:\n\t"
	"xor %ebp, %ebp\n\t"
	"call work\n\t"
	"mov %eax, %edi\n\t"
	"mov $231, %eax\n\t"
	"syscall\n\t"
	"hlt\n");
