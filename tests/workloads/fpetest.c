/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Floating-point exceptions of every type, and what a program can do about them: scalar
 * SSE, x87, AVX, AVX-512 (also with exceptions suppressed), in a thread, and around
 * fesetenv, feholdexcept and feupdateenv.  Prints results and control registers, which
 * must be the same when the exceptions are traced; then the time of N divisions by zero,
 * with WORK turns of a loop between them.
 *
 *	usage: fpetest [N [WORK]]	(100,000, 0)
 */
#include <fenv.h>
#include <immintrin.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "workload.h"

static volatile double zero = 0, one = 1, big = 1e308, tiny = 1e-308, denormal = 5e-324;
static volatile float zero_f = 0;
static volatile long double zero_l = 0;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static unsigned mxcsr(void)
{
	unsigned v;

	__asm__ volatile("stmxcsr %0" : "=m"(v));
	return v;
}

static void scalar(void)
{
	volatile double r;

	r = one / zero;
	printf("1/0 = %g\n", r);
	r = zero / zero;
	printf("0/0 = %g\n", r);
	r = big * big;
	printf("big*big = %g\n", r);
	r = tiny * tiny;
	printf("tiny*tiny = %g\n", r);
	r = denormal + one;
	printf("denormal+1 = %g\n", r);
	r = sqrt(-one);
	printf("sqrt(-1) = %g\n", r);

	volatile float f = 1.0f / zero_f;

	printf("float 1/0 = %g\n", (double)f);
}

static void x87(void)
{
	volatile long double r = 1.0L / zero_l;

	printf("x87 1/0 = %Lg\n", r);
	r = zero_l / zero_l;
	printf("x87 0/0 = %Lg\n", r);
	r = sinl((long double)INFINITY);
	printf("x87 sin(inf) = %Lg\n", r);
}

static void avx(void)
{
	double a[4] = { 1, 0, 1e308, 4 }, b[4] = { 0, 0, 1e-308, 2 }, r[4];

	if (!__builtin_cpu_supports("avx"))
		return;
	__asm__ volatile("vmovupd %1, %%ymm0\n"
			 "vmovupd %2, %%ymm1\n"
			 "vdivpd %%ymm1, %%ymm0, %%ymm0\n"
			 "vmovupd %%ymm0, %0\n"
			 "vzeroupper"
			 : "=m"(r)
			 : "m"(a), "m"(b)
			 : "xmm0", "xmm1", "memory");
	printf("avx {1/0, 0/0, 1e308/1e-308, 4/2} = %g %g %g %g\n", r[0], r[1], r[2],
	       r[3]);
}

static void avx512(void)
{
	double a[8] = { 1, 0, 1e308, 4, 1, 0, 3, 4 },
	       b[8] = { 0, 0, 1e-308, 2, 1, 1, 1, 0 };
	double r[8];

	if (!__builtin_cpu_supports("avx512f"))
		return;
	__asm__ volatile("vmovupd %1, %%zmm16\n"
			 "vmovupd %2, %%zmm17\n"
			 "vdivpd %%zmm17, %%zmm16, %%zmm18\n"
			 "vmovupd %%zmm18, %0\n"
			 "vzeroupper"
			 : "=m"(r)
			 : "m"(a), "m"(b)
			 : "memory");
	printf("avx512:");
	for (int i = 0; i < 8; i++)
		printf(" %g", r[i]);
	__asm__ volatile("vmovupd %1, %%zmm16\n"
			 "vmovupd %2, %%zmm17\n"
			 "vdivpd %{rn-sae%}, %%zmm17, %%zmm16, %%zmm18\n"
			 "vmovupd %%zmm18, %0\n"
			 "vzeroupper"
			 : "=m"(r)
			 : "m"(a), "m"(b)
			 : "memory");
	printf("\navx512 with exceptions suppressed: %g\n", r[0]);
}

static void *thread(void *arg)
{
	volatile double r = 0;

	for (int i = 0; i < 100; i++)
		r = one / zero;
	printf("thread mxcsr %x, r = %g\n", mxcsr(), r);
	return arg;
}

static void environments(void)
{
	volatile double r;
	fenv_t env;

	printf("fetestexcept: %x\n", (unsigned)fetestexcept(FE_ALL_EXCEPT));
	fegetenv(&env);
	fesetenv(FE_DFL_ENV);
	printf("after fesetenv(default) mxcsr %x\n", mxcsr());
	r = one / zero;
	fesetenv(&env);
	feholdexcept(&env);
	printf("after feholdexcept mxcsr %x\n", mxcsr());
	r = one / zero;
	feupdateenv(&env);
	printf("after feupdateenv mxcsr %x, r = %g\n", mxcsr(), r);
}

static void libraries(void)
{
	double sum = 0;

	for (int i = 0; i < 10; i++) {
		volatile double x = 1e-310;

		sum += log(x + exp(-700.0 - i));
	}
	printf("log and exp: %g, pow(0, -1): %g\n", sum, pow(zero, -one));
	printf("strtod: %g, printf: %f\n", strtod("1e400", NULL), 1e300);
}

static __attribute__((noinline)) void work(long turns)
{
	for (long i = 0; i < turns; i++)
		__asm__ volatile("" : : "r"(i) : "memory");
}

static void time_divisions(long n, long turns)
{
	volatile double r = 0;
	double start = now_ns();

	for (long i = 0; i < n; i++) {
		r = one / zero;
		work(turns);
	}
	fprintf(stderr, "%.0f ns per exception (r = %g)\n",
		n ? (now_ns() - start) / (double)n : 0, r);
}

int main(int argc, char **argv)
{
	pthread_t t;

	printf("mxcsr %x\n", mxcsr());
	scalar();
	x87();
	avx();
	avx512();
	fflush(stdout);
	pthread_create(&t, NULL, thread, NULL);
	pthread_join(t, NULL);
	time_divisions(workload_arg(argc, argv, 1, 100000),
		       workload_arg(argc, argv, 2, 0));
	environments();
	libraries();
	return 0;
}
