/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a CPU-time timer of this kernel delivers: for several intervals, the signals,
 * the overruns, and the time both stand for beside the CPU time that passed.
 *
 *	usage: timer_rate
 */
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 0.6

static volatile long n_signals, n_overruns;

static void handler(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	n_signals++;
	n_overruns += info->si_overrun;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static timer_t start_timer(long interval_ns)
{
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = SIGPROF,
		._sigev_un._tid = (int)syscall(SYS_gettid),
	};
	struct itimerspec spec = {
		.it_interval.tv_nsec = interval_ns,
		.it_value.tv_nsec = interval_ns,
	};
	timer_t timer;

	timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &timer);
	timer_settime(timer, 0, &spec, NULL);
	return timer;
}

static void measure(long interval_ns)
{
	n_signals = n_overruns = 0;

	timer_t timer = start_timer(interval_ns);
	double start = cpu_seconds(), passed;

	do
		passed = cpu_seconds() - start;
	while (passed < SECONDS);
	timer_delete(timer);

	double each = (double)interval_ns * 1e-9;

	printf("interval %.3f ms: signals %ld (%.3f s) with overruns %ld (%.3f s) of "
	       "%.3f s\n",
	       each * 1e3, n_signals, (double)n_signals * each, n_signals + n_overruns,
	       (double)(n_signals + n_overruns) * each, passed);
}

int main(void)
{
	static const long intervals_ns[] = {
		500000, 997000, 4000000, 5000000, 8000000, 10007000, 12000000, 30000000,
	};
	struct sigaction action = {
		.sa_sigaction = handler,
		.sa_flags = SA_SIGINFO | SA_RESTART,
	};

	sigaction(SIGPROF, &action, NULL);
	for (size_t i = 0; i < sizeof(intervals_ns) / sizeof(intervals_ns[0]); i++)
		measure(intervals_ns[i]);
	return 0;
}
