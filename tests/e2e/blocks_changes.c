/* SPDX-License-Identifier: Apache-2.0
 *
 * Code that changes: written, rewritten, unmapped and mapped again, written by the
 * kernel, moved; and code that compilers make of switches, where a comparison is looked
 * at behind the jump.  Says what it saw.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE	 4096
#define NOINLINE __attribute__((noinline))

typedef int number(void);

static uint8_t *map(int prot)
{
	uint8_t *p = mmap(NULL, 4 * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

/* mov $n, %eax; ret */
static void put(uint8_t *to, uint32_t n)
{
	*to = 0xb8;
	memcpy(to + 1, &n, 4);
	to[5] = 0xc3;
}

static int call(const uint8_t *code)
{
	return ((number *)(uintptr_t)code)();
}

static long rewritten(void)
{
	uint8_t *code = map(PROT_READ | PROT_WRITE | PROT_EXEC);
	long sum = 0;

	for (uint32_t i = 0; i < 3000; i++) {
		put(code + i % 7 * 100, i);
		sum += call(code + i % 7 * 100) +
		       (i > 7 ? call(code + (i + 1) % 7 * 100) : 0);
	}
	munmap(code, 4 * PAGE);
	return sum;
}

static long made_writable(void)
{
	uint8_t *code = map(PROT_READ | PROT_WRITE);
	long sum = 0;

	for (uint32_t i = 0; i < 3000; i++) {
		mprotect(code, 4 * PAGE, PROT_READ | PROT_WRITE);
		put(code + (i % 300) * 32, i % 900);
		mprotect(code, 4 * PAGE, PROT_READ | PROT_EXEC);
		for (uint32_t k = 0; k < 300 && k <= i; k += 37)
			sum += call(code + k * 32);
	}
	munmap(code, 4 * PAGE);
	return sum;
}

static long mapped_again(void)
{
	uint8_t *at = map(PROT_NONE);
	long sum = 0;

	for (uint32_t i = 0; i < 500; i++) {
		mmap(at, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
		put(at + i % 2 * 3, i);
		mprotect(at, PAGE, PROT_READ | PROT_EXEC);
		sum += call(at + i % 2 * 3);
		if (i % 3 == 0)
			munmap(at, PAGE);
	}
	return sum;
}

static long read_by_the_kernel(void)
{
	uint8_t *code = map(PROT_READ | PROT_WRITE | PROT_EXEC), bytes[6];
	long sum = 0;
	int fds[2];

	if (pipe(fds) != 0)
		abort();
	put(code, 1);
	for (uint32_t i = 0; i < 200; i++) {
		sum += call(code);
		put(bytes, i * i);
		if (write(fds[1], bytes, 6) != 6 || read(fds[0], code, 6) != 6)
			abort();
	}
	return sum;
}

static long moved(void)
{
	long sum = 0;

	for (uint32_t i = 0; i < 100; i++) {
		uint8_t *code = map(PROT_READ | PROT_WRITE | PROT_EXEC), *other;

		put(code + PAGE, i);
		sum += call(code + PAGE);
		other = mremap(code, 4 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
		put(other + PAGE + 6, i + 1);
		sum += call(other + PAGE) + 3L * call(other + PAGE + 6);
		munmap(other, 64 * PAGE);
	}
	return sum;
}

static long by_a_child(void)
{
	uint8_t *code = map(PROT_READ | PROT_WRITE | PROT_EXEC);
	long sum = 0;
	int status;

	put(code, 5);
	for (int i = 0; i < 20; i++) {
		sum += call(code);
		if (fork() == 0) {
			put(code, 100 + (uint32_t)i);
			_exit(call(code));
		}
		wait(&status);
		sum += WEXITSTATUS(status);
	}
	return sum;
}

NOINLINE static long in_counted_code(long sum)
{
	__asm__ volatile("" ::: "memory");
	return sum * 2;
}

/* Memory that comes piece by piece, and an instruction that is in two of them. */
static long in_pieces(void)
{
	uint8_t *at = map(PROT_NONE), *code = at + PAGE - 3;
	long sum = 0;

	for (int i = 0; i < 2; i++)
		mmap(at + i * PAGE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	put(code, 3);
	for (uint32_t i = 0; i < 1000; i++) {
		at[PAGE] = (uint8_t)(i / 3);
		sum += in_counted_code(call(code));
	}
	return sum;
}

static uint8_t *volatile missing;

static void map_missing(int signal)
{
	(void)signal;
	mmap(missing, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	memset(missing, 0, 2);
	missing[2] = 0xc3;
}

/* The rest of an instruction is there when it has been missed. */
static long in_pieces_that_come(void)
{
	struct sigaction a = { .sa_handler = map_missing }, was;
	long sum = 0;

	sigaction(SIGSEGV, &a, &was);
	for (uint32_t i = 0; i < 20; i++) {
		uint8_t *at = map(PROT_NONE);

		mprotect(at, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
		memcpy(at + PAGE - 3, (const uint8_t[]){ 0xb8, (uint8_t)i, 0 }, 3);
		missing = at + PAGE;
		sum += in_counted_code(call(at + PAGE - 3));
		munmap(at, 4 * PAGE);
	}
	sigaction(SIGSEGV, &was, NULL);
	return sum;
}

/* cmp; jmp *table(,i,8); setCC */
NOINLINE static long looked_at_behind(long i, long a)
{
	long below = 0;

	__asm__ volatile("lea 9f(%%rip), %%r8\n"
			 "movslq (%%r8,%[i],4), %%r9\n"
			 "add %%r8, %%r9\n"
			 "cmpq $50, %[a]\n"
			 "jmp *%%r9\n"
			 "1: setb %b[below]; jmp 8f\n"
			 "2: seta %b[below]; jmp 8f\n"
			 "3: sete %b[below]; jmp 8f\n"
			 "4: setne %b[below]; jmp 8f\n"
			 "5: adc $3, %[below]; jmp 8f\n"
			 "6: mov $9, %k[below]; jmp 8f\n"
			 ".balign 4\n"
			 "9: .long 6b - 9b, 1b - 9b, 2b - 9b, 3b - 9b, 4b - 9b, 5b - 9b\n"
			 "8:"
			 : [below] "+q"(below)
			 : [i] "r"(i), [a] "r"(a)
			 : "r8", "r9", "cc");
	return below;
}

static long switches(void)
{
	long sum = 0;

	for (long i = 0; i < 30000; i++)
		sum = sum * 3 + looked_at_behind(i % 6 * (i > 3), i * 7 % 100);
	return sum;
}

int main(void)
{
	printf("%ld\n", rewritten());
	printf("%ld\n", made_writable());
	printf("%ld\n", mapped_again());
	printf("%ld\n", read_by_the_kernel());
	printf("%ld\n", moved());
	printf("%ld\n", by_a_child());
	printf("%ld\n", switches());
	printf("%ld\n", in_pieces());
	printf("%ld\n", in_pieces_that_come());
	return 0;
}
