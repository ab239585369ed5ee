/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point exceptions whose number is known: many instructions, each with all pairs
 * of values at which something happens, and for each what it raised by the flags that it
 * left.  Every form of operand and encoding is there: registers, memory relative to the
 * stack and to the code, SSE, VEX, EVEX and x87.
 *
 *	usage: fpe_raised flags|N [wait]
 *	flags	clear and read the flags of each, and tell their numbers
 *	N	only execute all of it, N times; and tell the results
 *	wait	without integers that are read as soon as x87 stored them
 */
#include <fenv.h>
#include <float.h>
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t specials[] = {
	0,
	0x8000000000000000,
	0x3ff0000000000000,
	0xbff0000000000000,
	0x7ff0000000000000,
	0xfff0000000000000,
	0x7ff8000000000000,
	0x7ff4000000000000,
	0x0000000000000001,
	0x000fffffffffffff,
	0x0010000000000000,
	0x7fefffffffffffff,
	0x4008000000000000,
	0x5fefffffffffffff,
	0x1fe0000000000001,
	0xc3f0000000000000,
	0x3fd5555555555555,
	0x41f0000000000000,
	0xc1e0000000200000,
	0x3690000000000000,
};

#define N_SPECIALS (sizeof(specials) / sizeof(specials[0]))

static double fixed[8] __attribute__((aligned(64)));
static uint64_t hash = 14695981039346656037u;
static unsigned long counts[6], n_raised, x87_counts[6], n_x87_raised;
static int tells_flags, reads_at_once;

static void mix(const void *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		hash = (hash ^ ((const uint8_t *)p)[i]) * 1099511628211u;
}

#define DEFINE(name, ...)                                                                \
	static __attribute__((noinline)) void name(double a, double b)                   \
	{                                                                                \
		double r = 0;                                                            \
		uint64_t i = 0, f = 0;                                                   \
                                                                                         \
		(void)b;                                                                 \
		__asm__ volatile(__VA_ARGS__);                                           \
		mix(&r, sizeof(r));                                                      \
		mix(&i, sizeof(i));                                                      \
		mix(&f, sizeof(f));                                                      \
	}

#define TWO(name, insn) DEFINE(name, insn " %2, %0" : "=x"(r) : "0"(a), "x"(b))
#define VEX(name, insn) DEFINE(name, insn " %2, %1, %0" : "=x"(r) : "x"(a), "x"(b))
/* The packed form has the same pair twice, the other way round. */
#define PACKED(name, insn)                                                               \
	DEFINE(name, "movsd %1, %%xmm3\n\tmovhpd %2, %%xmm3\n\tmovsd %2, %%xmm4\n\t"     \
		     "movhpd %1, %%xmm4\n\t" insn " %%xmm4, %%xmm3\n\tmovsd %%xmm3, %0"  \
	       : "=m"(r)                                                                 \
	       : "m"(a), "m"(b)                                                          \
	       : "xmm3", "xmm4")

TWO(add, "addsd")
TWO(sub, "subsd")
TWO(mul, "mulsd")
TWO(divide, "divsd")
TWO(root, "sqrtsd")
TWO(least, "minsd")
TWO(equal, "cmpeqsd")
TWO(less, "cmpltsd")
TWO(single, "cvtsd2ss")
PACKED(add_two, "addpd")
PACKED(div_two, "divpd")
PACKED(mul_two, "mulpd")
PACKED(div_four, "cvtpd2ps %%xmm3, %%xmm3\n\tdivps")
VEX(vex_add, "vaddsd")
VEX(vex_div, "vdivsd")
DEFINE(vex_fma, "vfmadd213sd %2, %3, %0" : "=x"(r) : "0"(a), "x"(b), "x"(a))
DEFINE(round_up, "roundsd $2, %1, %0" : "=x"(r) : "x"(a))
DEFINE(integer, "cvttsd2si %1, %0" : "=r"(i) : "x"(a))
DEFINE(small_integer, "cvtsd2si %1, %k0" : "=r"(i) : "x"(a))
DEFINE(ordered, "comisd %2, %1\n\tpushfq\n\tpop %0" : "=r"(f) : "x"(a), "x"(b))
DEFINE(unordered, "ucomisd %2, %1\n\tpushfq\n\tpop %0" : "=r"(f) : "x"(a), "x"(b))
DEFINE(flags_kept, "stc\n\tdivsd %3, %0\n\tsbb %1, %1"
       : "=x"(r), "=r"(i)
       : "0"(a), "x"(b))
DEFINE(registers_kept,
       "mov $0x1234567, %%rax\n\tmov $0x89abcde, %%rcx\n\tdivsd %3, %0\n\t"
       "lea (%%rax,%%rcx,2), %1"
       : "=x"(r), "=r"(i)
       : "0"(a), "x"(b)
       : "rax", "rcx")
DEFINE(red_zone,
       "movsd %2, -16(%%rsp)\n\tmovsd %2, -128(%%rsp)\n\tdivsd -16(%%rsp), %0\n\t"
       "mov -128(%%rsp), %1"
       : "=x"(r), "=r"(i)
       : "x"(b), "0"(a))

static __attribute__((noinline)) void relative(double a, double b)
{
	double r = a;

	fixed[3] = b;
	__asm__ volatile("divsd 24+fixed(%%rip), %0" : "+x"(r) : "m"(fixed));
	mix(&r, sizeof(r));
}

static __attribute__((noinline)) void indexed(double a, double b)
{
	double r = a;

	fixed[3] = b;
	__asm__ volatile("mulsd 8(%1,%2,8), %0"
			 : "+x"(r)
			 : "r"(fixed), "r"(2L), "m"(fixed));
	mix(&r, sizeof(r));
}

static __attribute__((noinline, target("avx"))) void wide(double a, double b)
{
	double x[4] = { a, b, 1, a }, y[4] = { b, a, a, 1 }, r[4];

	__asm__ volatile("vmovupd %1, %%ymm5\n\tvdivpd %2, %%ymm5, %%ymm6\n\t"
			 "vmovupd %%ymm6, %0\n\tvzeroupper"
			 : "=m"(r)
			 : "m"(x), "m"(y)
			 : "xmm5", "xmm6");
	mix(r, sizeof(r));
}

static __attribute__((noinline)) void widest(double a, double b)
{
	double x[8] = { a, b, 1, a, 2, b, a, 7 }, y[8] = { b, a, a, 1, a, b, 3, b }, r[8];

	__asm__ volatile("vmovupd %1, %%zmm17\n\tvmulpd %2, %%zmm17, %%zmm31\n\t"
			 "vmovupd %%zmm31, %0\n\tvzeroupper"
			 : "=m"(r)
			 : "m"(x), "m"(y)
			 : "memory");
	mix(r, sizeof(r));
}

static __attribute__((noinline)) void broadcast(double a, double b)
{
	double x[8] = { a, b, 1, a, 2, b, a, 7 }, r[8];

	__asm__ volatile("vmovupd %1, %%zmm17\n\tvdivpd %2%{1to8%}, %%zmm17, %%zmm31\n\t"
			 "vmovupd %%zmm31, %0\n\tvzeroupper"
			 : "=m"(r)
			 : "m"(x), "m"(b)
			 : "memory");
	mix(r, sizeof(r));
}

static long double extended[2];

/* Raises something, too. */
static __attribute__((noinline)) void extend(double a, double b)
{
	extended[0] = a;
	extended[1] = b;
	__asm__ volatile("fwait" : : : "memory");
}

/* In registers and in memory; a status word and the stack of the unit are results too. */
#define X87(name, ...)                                                                   \
	static __attribute__((noinline)) void name(double a, double b)                   \
	{                                                                                \
		long double r = 0, x = extended[0], y = extended[1];                     \
		uint16_t s = 0;                                                          \
		int i = 0;                                                               \
                                                                                         \
		(void)a, (void)b, (void)x, (void)y;                                      \
		__asm__ volatile(__VA_ARGS__);                                           \
		mix(&r, 10);                                                             \
		s &= 0x4500;                                                             \
		mix(&s, sizeof(s));                                                      \
		mix(&i, sizeof(i));                                                      \
	}

X87(x87_div, "fdivp %%st, %%st(1)" : "=t"(r) : "0"(y), "u"(x) : "st(1)")
X87(x87_add, "faddp %%st, %%st(1)" : "=t"(r) : "0"(y), "u"(x) : "st(1)")
X87(x87_memory, "fdivl %2" : "=t"(r) : "0"(x), "m"(b))
X87(x87_root, "fsqrt" : "=t"(r) : "0"(x))
X87(x87_sine, "fsin\n\tfnstsw %1" : "=t"(r), "=a"(s) : "0"(x))
X87(x87_compare, "fcom %%st(1)\n\tfstsw %1" : "=t"(r), "=a"(s) : "0"(x), "u"(y))
X87(x87_load, "fldl %1" : "=t"(r) : "m"(a))
X87(x87_store, "fistpl %0\n\tfwait" : "=m"(i) : "t"(x) : "st")
X87(x87_late, "fistpl %0" : "=m"(i) : "t"(x) : "st")
X87(x87_empty, "fadd %%st(3), %%st\n\tfwait" : "=t"(r) : "0"(x))

struct op {
	void (*f)(double a, double b);
	int is_x87;
	const char *needs;
};

static const struct op ops[] = {
	{ add, 0, 0 },	       { sub, 0, 0 },		{ mul, 0, 0 },
	{ divide, 0, 0 },      { root, 0, 0 },		{ least, 0, 0 },
	{ equal, 0, 0 },       { less, 0, 0 },		{ single, 0, 0 },
	{ add_two, 0, 0 },     { div_two, 0, 0 },	{ mul_two, 0, 0 },
	{ integer, 0, 0 },     { small_integer, 0, 0 }, { ordered, 0, 0 },
	{ unordered, 0, 0 },   { flags_kept, 0, 0 },	{ registers_kept, 0, 0 },
	{ red_zone, 0, 0 },    { relative, 0, 0 },	{ indexed, 0, 0 },
	{ round_up, 0, "4" },  { vex_add, 0, "a" },	{ vex_div, 0, "a" },
	{ wide, 0, "a" },      { vex_fma, 0, "f" },	{ widest, 0, "5" },
	{ broadcast, 0, "5" }, { x87_div, 1, 0 },	{ x87_add, 1, 0 },
	{ x87_memory, 1, 0 },  { x87_root, 1, 0 },	{ x87_sine, 1, 0 },
	{ x87_compare, 1, 0 }, { x87_load, 1, 0 },	{ x87_store, 1, 0 },
	{ x87_empty, 1, 0 },   { x87_late, 1, "l" },
};

/* More than one instruction may raise something here: their flags tell too little. */
static const struct op unflagged[] = { { div_four, 0, 0 } };

static int is_there(const char *what)
{
	switch (what ? *what : 0) {
	case '4':
		return __builtin_cpu_supports("sse4.1");
	case 'a':
		return __builtin_cpu_supports("avx");
	case 'f':
		return __builtin_cpu_supports("fma");
	case '5':
		return __builtin_cpu_supports("avx512f");
	case 'l':
		return reads_at_once;
	}
	return 1;
}

/* The C library knows nothing of it. */
static int denormal_flag(void)
{
	unsigned mxcsr;
	uint16_t status;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	__asm__ volatile("fnstsw %0" : "=m"(status));
	return (int)(mxcsr | status) & 2;
}

static void clear_flags(void)
{
	fenv_t env;

	feclearexcept(FE_ALL_EXCEPT);
	fegetenv(&env);
	env.__mxcsr &= ~2u;
	env.__status_word &= (uint16_t)~2u;
	fesetenv(&env);
}

static void execute(const struct op *op, double a, double b)
{
	unsigned long *to = op->is_x87 ? x87_counts : counts;
	int flags;

	if (op->is_x87)
		extend(a, b);
	if (tells_flags)
		clear_flags();
	op->f(a, b);
	if (!tells_flags)
		return;
	flags = fetestexcept(FE_ALL_EXCEPT) | denormal_flag();
	for (int i = 0; i < 6; i++)
		to[i] += flags >> i & 1;
	if (op->is_x87)
		n_x87_raised += (flags & 7) != 0;
	else
		n_raised += (flags & 0x3f) != 0;
}

static void execute_all(const struct op *op)
{
	for (size_t i = 0; i < N_SPECIALS && is_there(op->needs); i++)
		for (size_t k = 0; k < N_SPECIALS; k++) {
			double a, b;

			memcpy(&a, &specials[i], sizeof(a));
			memcpy(&b, &specials[k], sizeof(b));
			execute(op, a, b);
		}
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;

	reads_at_once = argc <= 2;
	tells_flags = argc > 1 && strcmp(argv[1], "flags") == 0;
	for (long i = 0; i < (tells_flags ? 1 : n); i++)
		for (size_t k = 0; k < sizeof(ops) / sizeof(ops[0]); k++)
			execute_all(&ops[k]);
	if (!tells_flags && n > 1)
		execute_all(unflagged);
	printf("results %016llx\n", (unsigned long long)hash);
	if (!tells_flags)
		return 0;
	printf("sse %lu", n_raised);
	for (int i = 0; i < 6; i++)
		printf(" %lu", counts[i]);
	printf("\nx87 %lu", n_x87_raised);
	for (int i = 0; i < 6; i++)
		printf(" %lu", x87_counts[i]);
	putchar('\n');
	return 0;
}
