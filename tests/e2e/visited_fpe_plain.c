/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that does with signals and control registers what it may, and begins without
 * a handler of SIGFPE.  Does what lines of its input say, and answers each:
 *	blocking, rest	a thread divides by zero all the time, and another with all
 *			signals blocked for each division; both make an end
 *	once		divides in a function, and waits for what follows where the
 *			stack of that is not written over
 *	divide		once, with all signals blocked
 *	keep, back	control registers are kept, and put back
 *	enable, forbid	division by zero is signalled, and is not
 *	park, leave	a thread that enabled it waits in a handler, and leaves that and
 *			divides
 *	catch		SIGFPE has a handler now
 *	raise		divides, raise-new: in a new thread, raise-x87: in that unit
 *	kill		sends itself SIGFPE
 */
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xmmintrin.h>

static volatile double zero = 0, one = 1;
static volatile long n_done, n_caught;
static volatile sig_atomic_t is_going, may_leave, is_parked;
static uint32_t kept;
static uint16_t kept_control;
static sigjmp_buf back;
static pthread_t threads[3];

static __attribute__((noinline)) void divide(void)
{
	if (one / zero != __builtin_inf())
		abort();
}

static __attribute__((noinline)) void divide_x87(void)
{
	volatile long double x = 1, y = 0;

	if (x / y != (long double)__builtin_inf())
		abort();
}

static void divide_blocked(void)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	divide();
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void *divide_on(void *arg)
{
	while (is_going)
		divide();
	return arg;
}

static void *block_on(void *arg)
{
	while (is_going) {
		divide_blocked();
		n_done++;
	}
	return arg;
}

static void wait_there(int signal)
{
	(void)signal;
	is_parked = 1;
	while (!may_leave)
		usleep(1000);
	is_parked = 0;
}

static void *park(void *arg)
{
	feenableexcept(FE_DIVBYZERO);
	raise(SIGUSR1);
	if (!sigsetjmp(back, 1))
		divide();
	return arg;
}

static void on_fpe(int signal)
{
	n_caught++;
	siglongjmp(back, signal);
}

static void catch (void)
{
	signal(SIGFPE, on_fpe);
}

static void blocking(void)
{
	is_going = 1;
	pthread_create(&threads[0], NULL, divide_on, NULL);
	pthread_create(&threads[1], NULL, block_on, NULL);
}

static void rest(void)
{
	is_going = 0;
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

static void keep(void)
{
	kept = _mm_getcsr();
	_mm_setcsr(kept | 0x8040);
	__asm__ volatile("fnstcw %0" : "=m"(kept_control));
}

static void put_back(void)
{
	_mm_setcsr(kept);
	__asm__ volatile("fldcw %0" : : "m"(kept_control));
}

static void enable(void)
{
	feenableexcept(FE_DIVBYZERO);
}

static void forbid(void)
{
	fedisableexcept(FE_ALL_EXCEPT);
}

static void begin_parking(void)
{
	may_leave = 0;
	pthread_create(&threads[2], NULL, park, NULL);
	while (!is_parked)
		usleep(1000);
}

static void leave(void)
{
	may_leave = 1;
	pthread_join(threads[2], NULL);
}

static void divide_caught(void)
{
	if (!sigsetjmp(back, 1))
		divide();
}

static void *divide_in_new(void *arg)
{
	divide_caught();
	return arg;
}

static void raise_in_new(void)
{
	pthread_create(&threads[2], NULL, divide_in_new, NULL);
	pthread_join(threads[2], NULL);
}

static void send(void)
{
	raise(SIGFPE);
}

static const struct {
	const char *name;
	void (*fn)(void);
} commands[] = {
	{ "blocking", blocking },
	{ "rest", rest },
	{ "once", divide },
	{ "divide", divide_blocked },
	{ "keep", keep },
	{ "back", put_back },
	{ "enable", enable },
	{ "forbid", forbid },
	{ "park", begin_parking },
	{ "leave", leave },
	{ "catch", catch },
	{ "raise", divide_caught },
	{ "raise-new", raise_in_new },
	{ "raise-x87", divide_x87 },
	{ "kill", send },
};

/* No stdio: what the functions called above left on the stack is to stay there. */
static __attribute__((noinline)) size_t read_line(char *to)
{
	char buf[16384];
	ssize_t n = read(STDIN_FILENO, buf, 64);

	if (n <= 0)
		return 0;
	memcpy(to, buf, (size_t)n);
	to[n - 1] = '\0';
	return (size_t)n;
}

int main(void)
{
	char line[65];

	signal(SIGUSR1, wait_there);
	if (write(STDOUT_FILENO, "ready\n", 6) < 0)
		return 1;
	while (read_line(line)) {
		char said[64];
		int n = 0;

		for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
			if (!strcmp(line, commands[i].name))
				commands[i].fn();
		n = snprintf(said, sizeof(said), "%ld %ld\n", n_done, n_caught);
		if (write(STDOUT_FILENO, said, (size_t)n) < 0)
			return 1;
	}
	return 0;
}
