/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls as 32-bit programs make them: simple ones, memory, a child, waiting that a
 * signal ends or does not, the process' end.  Says what they give; ends with 3, or with
 * 77 where there are none. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define ALONE __attribute__((noinline))

/* Of which the kernel's other half sees all addresses. */
static char *low;
static volatile int n_ticks;

/* All registers but the result's stay. */
static ALONE long call(long number, long a, long b, long c, long d, long e)
{
	register uint64_t r8 __asm__("r8") = 0x1122334455667788;
	register uint64_t r10 __asm__("r10") = 0x99;
	register uint64_t r11 __asm__("r11") = 0xaabbccddeeff0011;
	long result, was_b = b;

	__asm__ volatile("int $0x80"
			 : "=a"(result), "+c"(b), "+r"(r8), "+r"(r10), "+r"(r11)
			 : "0"(number), "b"(a), "d"(c), "S"(d), "D"(e)
			 : "memory", "cc");
	if (r8 != 0x1122334455667788 || r10 != 0x99 || r11 != 0xaabbccddeeff0011 ||
	    b != was_b)
		puts("registers have changed");
	return result;
}

static void tick(int signal)
{
	(void)signal;
	n_ticks++;
}

/* read() of what never comes, with and without being begun anew. */
static void wait_for(int flags)
{
	struct sigaction a = { .sa_handler = tick, .sa_flags = flags };
	struct itimerval often = { { 0, 2000 }, { 0, 2000 } }, never = { 0 };
	int pipes[2];

	if (pipe(pipes) != 0)
		return;
	sigaction(SIGALRM, &a, NULL);
	n_ticks = 0;
	if (!fork()) {
		usleep(50000);
		_exit(write(pipes[1], "x", 1) != 1);
	}
	setitimer(ITIMER_REAL, &often, NULL);
	printf("read %ld", call(3, pipes[0], (long)low, 1, 0, 0));
	setitimer(ITIMER_REAL, &never, NULL);
	printf(", ticks %d\n", n_ticks > 0);
	while (call(7, -1, (long)low, 0, 0, 0) < 0)
		;
}

static void memory(void)
{
	long at = call(192, 0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1);
	uint8_t *p = (uint8_t *)at;

	printf("mapped %d\n", at > 0 && at < 1L << 32);
	memcpy(p, "\xb8\x2a\x00\x00\x00\xc3", 6);
	printf("protected %ld", call(125, at, 8192, PROT_READ | PROT_EXEC, 0, 0));
	printf(", comes to %d\n", ((int (*)(void))(uintptr_t)p)());
	printf("unmapped %ld\n", call(91, at, 8192, 0, 0, 0));
}

static void child(void)
{
	long pid, waited;

	fflush(stdout);
	pid = call(2, 0, 0, 0, 0, 0);
	if (!pid)
		call(1, 9, 0, 0, 0, 0);
	waited = call(7, pid, (long)low, 0, 0, 0);
	printf("child %d, status %d\n", waited == pid && pid > 0, *(int *)(void *)low);
}

int main(void)
{
	low = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	if (call(20, 0, 0, 0, 0, 0) != getpid())
		return 77;
	strcpy(low, "written\n");
	printf("write %ld\n", call(4, 1, (long)low, 8, 0, 0));
	printf("to nowhere %ld\n", call(4, 99, (long)low, 8, 0, 0));
	printf("no such call %ld\n", call(999, 0, 0, 0, 0, 0));
	memcpy(low, (int[]){ 0, 1000 }, 8);
	printf("nanosleep %ld\n", call(162, (long)low, 0, 0, 0, 0));
	for (int i = 0; i < 10; i++)
		call(158, 0, 0, 0, 0, 0);
	memory();
	child();
	wait_for(SA_RESTART);
	fflush(stdout);
	call(252, 3, 0, 0, 0, 0);
	return 1;
}
