/* SPDX-License-Identifier: Apache-2.0
 *
 * anchored N: N times a turn of two kinds of work, each so often as the names say.
 * anchored N vfork: while another thread is in vfork() for seconds.
 * anchored N fork: forks a child that sleeps when it is told to by SIGUSR1, and says
 * which. anchored N often: N times a thousand calls of some hundred nanoseconds, and
 * nothing else. anchored N alone: N times 100,000 rounds of a loop that calls nothing and
 * never leaves itself. anchored N stack, anchored N static: the same, counted in memory
 * alone; the latter by 32 bits, of which N may have 42,949. anchored N phases: half of
 * it by a loop, then half by another, each with a static variable. anchored N choose: N
 * times 100,000 operations, each of which chooses the next one by an indirect jump.
 * anchored N climb: the Nth Fibonacci number, by one for each two calls; of these there
 * are 2 F(N + 1) - 1, and nothing else.
 *
 * A turn takes some tens of microseconds: rare enough for a CPU to stop at it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN	100000
#define DIVIDE	10000
#define OFTEN	1000
#define SHORT	1000
#define VFORK_S 4

static __attribute__((noinline)) unsigned long add_100000(unsigned long x)
{
	for (unsigned i = 0; i < PLAIN; i++)
		__asm__ volatile("add $3, %0" : "+r"(x));
	return x;
}

static __attribute__((noinline)) unsigned long divide_10000(unsigned long x)
{
	for (unsigned i = 0; i < DIVIDE; i++)
		__asm__ volatile("xor %%edx, %%edx; div %1"
				 : "+a"(x)
				 : "r"(3UL)
				 : "rdx", "cc");
	return x;
}

static __attribute__((noinline)) unsigned long turn(unsigned long x)
{
	return divide_10000(add_100000(x));
}

static __attribute__((noinline)) unsigned long add_1000(unsigned long x)
{
	for (unsigned i = 0; i < SHORT; i++)
		__asm__ volatile("add $3, %0" : "+r"(x));
	return x;
}

static unsigned long call_often(unsigned long x, unsigned long n)
{
	for (unsigned long i = 0; i < n * OFTEN; i++)
		x = add_1000(x) + i;
	return x;
}

static __attribute__((noinline)) unsigned long go_round(unsigned long x, unsigned long n)
{
	for (unsigned long i = 0; i < n * PLAIN; i++)
		__asm__ volatile("imul $3, %0, %0" : "+r"(x));
	return x;
}

static __attribute__((noinline)) unsigned long go_round_stack(unsigned long x,
							      unsigned long n)
{
	volatile unsigned long left = n * PLAIN;

	__asm__ volatile("1: imul $3, %0, %0; decq %1; jnz 1b"
			 : "+r"(x), "+m"(left)
			 :
			 : "cc");
	return x;
}

static volatile unsigned left;

static __attribute__((noinline)) unsigned long go_round_static(unsigned long x,
							       unsigned long n)
{
	left = (unsigned)(n * PLAIN);
	__asm__ volatile("1: imul $3, %0, %0; decl %1; jnz 1b"
			 : "+r"(x), "+m"(left)
			 :
			 : "cc");
	return x;
}

/* The loops of both phases; each calls nothing. */
#define GO_PHASE(name)                                                                   \
	static volatile unsigned long left_##name;                                       \
	static __attribute__((noinline)) unsigned long name(unsigned long x,             \
							    unsigned long n)             \
	{                                                                                \
		left_##name = n * (PLAIN / 2);                                           \
		__asm__ volatile("1: imul $3, %0, %0; decq %1; jnz 1b"                   \
				 : "+r"(x), "+m"(left_##name)                            \
				 :                                                       \
				 : "cc");                                                \
		return x;                                                                \
	}

GO_PHASE(go_first)
GO_PHASE(go_second)

static unsigned long go_in_phases(unsigned long x, unsigned long n)
{
	return go_second(go_first(x, n), n);
}

/* An interpreter without a common place to choose at: of a round of eight operations the
 * first, which comes four times, goes on to itself once, to the second twice and to the
 * third once; the fourth ends the round. */
static __attribute__((noinline)) unsigned long choose(unsigned long x, unsigned long n)
{
	static const unsigned char operations[] = { 0, 1, 0, 1, 0, 0, 2, 3 };
	static const void *const to[] = { &&first, &&second, &&third, &&fourth };
	const unsigned char *next;

#define CHOOSE(multiplier)                                                               \
	do {                                                                             \
		__asm__ volatile("imul $" #multiplier ", %0, %0" : "+r"(x));             \
		goto *to[*next++];                                                       \
	} while (0)

	n *= PLAIN / sizeof(operations);
again:
	next = operations;
	__asm__ volatile("" : "+r"(next)); /* it is not known what comes first */
	goto *to[*next++];
first:
	CHOOSE(3);
second:
	CHOOSE(5);
third:
	CHOOSE(7);
fourth:
	if (--n)
		goto again;
	return x;
}

static __attribute__((noinline)) unsigned long climb_to(unsigned long n)
{
	unsigned long a, b;

	if (n < 2)
		return n;
	a = climb_to(n - 1);
	b = climb_to(n - 2);
	__asm__ volatile("" : "+r"(a), "+r"(b)); /* it is no loop */
	return a + b;
}

static unsigned long climb(unsigned long x, unsigned long n)
{
	return x * climb_to(n);
}

static void *be_in_vfork(void *unused)
{
	pid_t pid = vfork();

	if (pid == 0) {
		sleep(VFORK_S);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return unused;
}

static void fork_one(int signal)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	dprintf(STDOUT_FILENO, "%d\n", (int)pid);
	(void)signal;
}

static __attribute__((noinline)) unsigned long turns(unsigned long x, unsigned long n)
{
	while (n--)
		x = turn(x);
	return x;
}

static unsigned long turns_beside(unsigned long x, unsigned long n)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, be_in_vfork, NULL) != 0)
		exit(1);
	x = turns(x, n);
	pthread_join(thread, NULL);
	return x;
}

static unsigned long turns_and_forks(unsigned long x, unsigned long n)
{
	signal(SIGUSR1, fork_one);
	return turns(x, n);
}

static const struct {
	const char *name;
	unsigned long (*work)(unsigned long x, unsigned long n);
} kinds[] = {
	{ "vfork", turns_beside },   { "fork", turns_and_forks },
	{ "often", call_often },     { "alone", go_round },
	{ "stack", go_round_stack }, { "static", go_round_static },
	{ "phases", go_in_phases },  { "choose", choose },
	{ "climb", climb },
};

int main(int argc, char **argv)
{
	unsigned long (*work)(unsigned long x, unsigned long n) = turns;

	for (size_t i = 0; argc > 2 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[2], kinds[i].name))
			work = kinds[i].work;
	printf("%lu\n", work(1, argc > 1 ? strtoul(argv[1], NULL, 0) : 1));
	return 0;
}
