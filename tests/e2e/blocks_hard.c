/* SPDX-License-Identifier: Apache-2.0
 * What is hard for whoever runs a program in translation: each part prints a number that
 * it comes to.  usage: e2e-blocks_hard [LIBRARY] */
#include <dlfcn.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <ucontext.h>

#define ALONE __attribute__((noinline))
/* Assembly that pushes must not write below what the compiler keeps there. */
#define OVER "sub $128, %%rsp\n"
#define BACK "lea 128(%%rsp), %%rsp\n"

static unsigned long sum;
static jmp_buf back;

ALONE static void nest(int n)
{
	if (!n)
		longjmp(back, 3);
	if (n > 0)
		nest(n - 1);
	sum += 99;
}

static void jump_out_of_calls(void)
{
	for (volatile int i = 0; i < 300; i++)
		if (!setjmp(back))
			nest(i % 20);
		else
			sum += (unsigned)i;
}

static ucontext_t caller, routines[3];

static void routine(int i)
{
	for (int k = 0; k < 100; k++) {
		sum = sum * 31 + (unsigned)i;
		swapcontext(&routines[i], &caller);
	}
}

static void switch_stacks(void)
{
	static char stacks[3][65536];

	for (int i = 0; i < 3; i++) {
		getcontext(&routines[i]);
		routines[i].uc_stack.ss_sp = stacks[i];
		routines[i].uc_stack.ss_size = sizeof(stacks[i]);
		routines[i].uc_link = &caller;
		makecontext(&routines[i], (void (*)(void))routine, 1, i);
	}
	for (int k = 0; k < 303; k++)
		swapcontext(&caller, &routines[k % 3]);
}

static void compute_gotos(void)
{
	static void *const labels[] = { &&add, &&mix, &&multiply };
	unsigned x = 7;
	int n = 0;

add:
	x = x * 3 + 1;
	if (++n > 2000)
		goto end;
	goto *labels[x % 3];
mix:
	x ^= (unsigned)n;
	if (++n > 2000)
		goto end;
	goto *labels[(x >> 3) % 3];
multiply:
	x += (unsigned)n * 7;
	if (++n > 2000)
		goto end;
	goto *labels[(x >> 2) % 3];
end:
	sum += x;
}

ALONE static int choose(int i)
{
	switch (i) {
	case 0:
		return 5;
	case 1:
		sum++;
		return 9;
	case 2:
		return i * 3;
	case 3:
		sum ^= 8;
		return 8;
	case 4:
		return 1;
	case 5:
		return (int)sum & 3;
	default:
		return -1;
	}
}

static void use_tables(void)
{
	for (int i = 0; i < 3000; i++)
		sum += (unsigned)choose(i % 7);
}

/* Whoever jumps in behind the first byte, which loads a number, executes that number. */
static void jump_into_instructions(void)
{
	for (int i = 0; i < 100; i++) {
		unsigned n;

		__asm__ volatile("xor %%eax, %%eax\n"
				 "test $1, %1\n"
				 "jz 2f\n"
				 ".byte 0xb8\n"
				 "2: .byte 0x83, 0xc0, 0x07, 0x90\n"
				 "add $1, %%eax\n"
				 "mov %%eax, %0\n"
				 : "=&r"(n)
				 : "r"(i)
				 : "rax", "cc");
		sum = sum * 7 + n;
	}
}

/* None of them changes flags when it repeats nothing. */
static void repeat_nothing(void)
{
	char from[64] = "what is copied and compared", to[64] = { 0 };

	for (unsigned long n = 0; n < 40; n++) {
		unsigned long count = n % 3 ? n : 0, flags;
		const void *s = from;
		void *d = to;

		__asm__ volatile("rep movsb" : "+c"(count), "+D"(d), "+S"(s)::"memory");
		count = n % 2 ? 0 : n;
		d = to;
		s = from;
		__asm__ volatile(OVER "mov $1, %%edx\n"
				      "cmp $2, %%edx\n"
				      "repe cmpsb\n"
				      "pushf\n"
				      "pop %3\n" BACK
				 : "+c"(count), "+D"(d), "+S"(s), "=&r"(flags)
				 :
				 : "memory", "rdx", "cc");
		sum = sum * 33 + count + (flags & 0x8d5);
	}
	for (int i = 0; i < 64; i++)
		sum = sum * 3 + (unsigned char)to[i];
}

/* Over calls, whatever the engine does for them; how numbers are rounded, too. */
static void keep_wide_registers(void)
{
	unsigned numbers[4], control = 0x7f80;
	unsigned short x87 = 0x0f7f;

	__asm__ volatile("pxor %%xmm13, %%xmm13\n"
			 "pcmpeqd %%xmm14, %%xmm14\n"
			 "fldcw %0\n"
			 "ldmxcsr %1\n"
			 "fldpi\n" ::"m"(x87),
			 "m"(control)
			 : "xmm13", "xmm14");
	for (int i = 0; i < 500; i++) {
		choose(i % 7);
		__asm__ volatile("psubd %%xmm14, %%xmm13" ::: "xmm13");
	}
	__asm__ volatile("movdqu %%xmm13, %0\n"
			 "fistpl %0\n"
			 "fnstcw %1\n"
			 "stmxcsr %2\n"
			 : "=m"(numbers), "=m"(x87), "=m"(control));
	sum += numbers[0] + numbers[3] + x87 + control;
	x87 = 0x37f;
	control = 0x1f80;
	__asm__ volatile("fldcw %0\n ldmxcsr %1" ::"m"(x87), "m"(control));
}

ALONE static const unsigned char *returns_to(void)
{
	return __builtin_return_address(0);
}

static void read_own_code(void)
{
	const unsigned char *at = returns_to(), *own = (const unsigned char *)choose;

	for (int i = 1; i < 8; i++)
		sum = sum * 33 + at[-i] + own[i];
}

/* By a return address that was pushed, and one that was put over another. */
static void return_elsewhere(void)
{
	for (int i = 0; i < 200; i++) {
		long n;

		__asm__ volatile(OVER "lea 1f(%%rip), %%rax\n"
				      "test $1, %1\n"
				      "jz 3f\n"
				      "lea 2f(%%rip), %%rax\n"
				      "push %%rax\n"
				      "ret\n"
				      "3: call 4f\n"
				      "jmp 5f\n"
				      "4: mov %%rax, (%%rsp)\n"
				      "ret\n"
				      "1: mov $11, %0\n"
				      "jmp 5f\n"
				      "2: mov $22, %0\n"
				      "5:\n" BACK
				 : "=&r"(n)
				 : "r"(i)
				 : "rax", "cc", "memory");
		sum = sum * 3 + (unsigned long)n;
	}
}

/* Flags that an earlier block leaves, over a jump, a call and its return. */
static void keep_flags(void)
{
	for (int i = 0; i < 300; i++) {
		unsigned char is_below;

		__asm__ volatile(OVER "cmp $7, %1\n"
				      "call 1f\n"
				      "jmp 2f\n"
				      "1: ret\n"
				      "2: setb %0\n" BACK
				 : "=r"(is_below)
				 : "r"(i % 14)
				 : "cc", "memory");
		sum = sum * 3 + is_below;
		__asm__ volatile(OVER "lea 1f(%%rip), %%rax\n"
				      "jmp 3f\n"
				      "1: cmp $3, %1\n"
				      "ret\n"
				      "3: call *%%rax\n"
				      "setb %0\n" BACK
				 : "=r"(is_below)
				 : "r"(i % 7)
				 : "rax", "cc", "memory");
		sum = sum * 3 + is_below;
	}
}

static void use_red_zone(void)
{
	for (long i = 0; i < 100; i++) {
		long n, a = i;

		__asm__ volatile("mov %1, -8(%%rsp)\n"
				 "mov %1, -120(%%rsp)\n"
				 "mov $5, %%ecx\n"
				 "1: add $1, %1\n"
				 "jo 2f\n"
				 "dec %%ecx\n"
				 "jnz 1b\n"
				 "2: mov -8(%%rsp), %0\n"
				 "add -120(%%rsp), %0\n"
				 : "=&r"(n), "+r"(a)
				 :
				 : "rcx", "cc", "memory");
		sum = sum * 7 + (unsigned long)(n + a);
	}
}

/* Written, made executable, called, and unmapped: gigabytes away, and over two pages. */
static void call_far_code(void)
{
	static const unsigned char code[] = { 0x48, 0x83, 0xec, 0x08, 0xff, 0xd6, 0x83,
					      0xc0, 0x02, 0x48, 0x83, 0xc4, 0x08, 0xc3 };
	static const unsigned long places[] = { 0x100000000000, 0x10000000,
						0x7e0000000000 };

	for (int k = 0; k < 3; k++) {
		unsigned char *p =
			mmap((void *)places[k], 8192, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

		if (p == MAP_FAILED)
			abort();
		memcpy(p, code, sizeof(code));
		memcpy(p + 4090, code, sizeof(code));
		mprotect(p, 8192, PROT_READ | PROT_EXEC);
		for (int i = 0; i < 50; i++) {
			sum += (unsigned)((int (*)(int, void *))p)(i % 7, choose);
			sum += (unsigned)((int (*)(int, void *))(p + 4090))(i % 7,
									    choose);
		}
		munmap(p, 8192);
	}
}

static void ask_the_kernels_library(void)
{
	struct timespec before = { 0 }, now;
	unsigned cpu, node;

	for (int i = 0; i < 200; i++) {
		clock_gettime(CLOCK_MONOTONIC, &now);
		sum += now.tv_sec < before.tv_sec ||
		       (now.tv_sec == before.tv_sec && now.tv_nsec < before.tv_nsec);
		before = now;
		sum += getcpu(&cpu, &node) != 0 || cpu > 4096;
	}
}

#ifdef WITH_LIBRARY
static void load_again(const char *path)
{
	for (int i = 0; path && i < 30; i++) {
		void *library = dlopen(path, RTLD_NOW);
		int (*function)(int) = NULL;

		if (library)
			*(void **)&function = dlsym(library, "function");
		if (!function)
			abort();
		sum += (unsigned)function(i);
		dlclose(library);
	}
}
#else
static void load_again(const char *path)
{
	(void)path;
}
#endif

int main(int argc, char **argv)
{
	static void (*const parts[])(
		void) = { jump_out_of_calls,	  switch_stacks,
			  compute_gotos,	  use_tables,
			  repeat_nothing,	  jump_into_instructions,
			  keep_wide_registers,	  read_own_code,
			  return_elsewhere,	  keep_flags,
			  use_red_zone,		  call_far_code,
			  ask_the_kernels_library };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		sum = 0;
		parts[i]();
		printf("%zu %lu\n", i, sum);
	}
	load_again(argc > 1 ? argv[1] : NULL);
	printf("%lu\n", sum);
	return 0;
}
