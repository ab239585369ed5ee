/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that the kernel counts while it runs, so that it is known what a profiler is to
 * find: in each round alpha() does 7,000,000 steps of two instructions each, below
 * outer(), beta() does 3,000,000, and gamma_reads() lets the kernel fill memory.  Prints
 * what the kernel counted of each.
 *
 *	usage: known ROUNDS EVENT...	(cycles, instructions or task-clock; then :u or
 *:k)
 */
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NOINLINE   __attribute__((noinline))
#define EVENTS_MAX 4
#define PIECE	   (1 << 20)
#define PIECES	   16

enum { ALPHA, BETA, GAMMA, N_PARTS };

static struct {
	int fd;
	uint64_t counted[N_PARTS];
} events[EVENTS_MAX];
static int n_events, zero_fd;
static volatile unsigned sink;
static char piece[PIECE];

static inline __attribute__((always_inline)) void steps(uint64_t n)
{
#if defined(__aarch64__)
	__asm__ volatile("1:	subs %0, %0, #1\n"
			 "	b.ne 1b\n"
			 : "+r"(n)
			 :
			 : "cc");
#else
	__asm__ volatile("1:	dec %0\n"
			 "	jnz 1b\n"
			 : "+r"(n)
			 :
			 : "cc");
#endif
}

NOINLINE static void alpha(void)
{
	steps(7000000);
	sink++;
}

/* The increment keeps the call from becoming a jump. */
NOINLINE static void outer(void)
{
	alpha();
	sink++;
}

NOINLINE static void beta(void)
{
	steps(3000000);
	sink++;
}

NOINLINE static void gamma_reads(void)
{
	for (int i = 0; i < PIECES; i++)
		if (read(zero_fd, piece, PIECE) != PIECE)
			exit(1);
	sink++;
}

static int open_event(const char *text)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} known[] = {
		{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
		{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS },
		{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK },
	};
	size_t n = strcspn(text, ":");
	struct perf_event_attr attr = { .size = sizeof(attr) };

	attr.exclude_kernel = strcmp(text + n, ":u") == 0;
	attr.exclude_user = strcmp(text + n, ":k") == 0;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strlen(known[i].name) != n || strncmp(known[i].name, text, n) != 0)
			continue;
		attr.type = known[i].type;
		attr.config = known[i].config;
		return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	}
	return -1;
}

static void count(int part, int sign)
{
	uint64_t value;

	for (int i = 0; i < n_events; i++) {
		if (read(events[i].fd, &value, sizeof(value)) != sizeof(value))
			exit(1);
		events[i].counted[part] += (uint64_t)sign * value;
	}
}

NOINLINE static void round_of_all(void)
{
	count(ALPHA, -1);
	outer();
	count(ALPHA, 1);
	count(BETA, -1);
	beta();
	count(BETA, 1);
	count(GAMMA, -1);
	gamma_reads();
	count(GAMMA, 1);
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 1;

	zero_fd = open("/dev/zero", O_RDONLY);
	memset(piece, 1, sizeof(piece)); /* no page faults later */
	for (int i = 2; i < argc && n_events < EVENTS_MAX; i++) {
		events[n_events].fd = open_event(argv[i]);
		if (events[n_events++].fd < 0)
			return 2;
	}
	for (long i = 0; i < rounds; i++)
		round_of_all();
	printf("{");
	for (int i = 0; i < n_events; i++)
		printf("%s\"%s\": {\"alpha\": %" PRIu64 ", \"beta\": %" PRIu64
		       ", \"gamma_reads\": %" PRIu64 "}",
		       i ? ", " : "", argv[i + 2], events[i].counted[ALPHA],
		       events[i].counted[BETA], events[i].counted[GAMMA]);
	printf("}\n");
	return 0;
}
