/* SPDX-License-Identifier: Apache-2.0
 *
 * empty_machine - the floor of sampling whole CPUs: the timer fires, a BPF program that
 * does nothing is called.
 *
 *	usage: empty_machine PERIOD-NS
 *
 * Opens a cpu-clock event on each CPU and says "ready"; "+" turns them on, "-" off,
 * and it says so. Ends when stdin does.
 */
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int load_empty(void)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_PERF_EVENT,
				.insn_cnt = 2,
				.insns = (uintptr_t)program,
				.license = (uintptr_t) "GPL" };

	return (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

/* The one that dwell opens, too. */
static int open_event(long cpu, uint64_t period_ns)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = period_ns,
		.exclude_idle = 1,
		.disabled = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
}

static int fail(const char *what)
{
	fprintf(stderr, "empty_machine: ");
	perror(what);
	return 1;
}

static void serve(const int *fds, long n)
{
	int c;

	while ((c = getchar()) != EOF) {
		for (long i = 0; i < n; i++)
			ioctl(fds[i],
			      c == '+' ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
			      0);
		puts(c == '+' ? "on" : "off");
		fflush(stdout);
	}
}

int main(int argc, char **argv)
{
	uint64_t period_ns = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	int *fds = calloc((size_t)n, sizeof(*fds)), program;

	if (!period_ns || !fds) {
		fprintf(stderr, "usage: empty_machine PERIOD-NS\n");
		return 2;
	}
	program = load_empty();
	if (program < 0)
		return fail("cannot load a BPF program");
	for (long i = 0; i < n; i++) {
		fds[i] = open_event(i, period_ns);
		if (fds[i] < 0)
			return fail("perf_event_open");
		if (ioctl(fds[i], PERF_EVENT_IOC_SET_BPF, program) != 0)
			return fail("cannot attach a BPF program");
	}
	puts("ready");
	fflush(stdout);
	serve(fds, n);
	return 0;
}
