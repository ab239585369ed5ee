/* SPDX-License-Identifier: Apache-2.0
 *
 * state_load - two threads of one CPU that wake each other and wait.
 *
 *	usage: state_load SWITCHES_PER_SECOND SECONDS DEPTH WORK_FILE RESULT_FILE
 *
 * Between two switches there is work, so much that so many happen in a second; it is
 *found out once and kept in WORK_FILE, so that runs with and without a profiler do the
 *same. Waits and wake-ups are below DEPTH functions.  Writes the wall and CPU seconds,
 *and how often threads left their CPU of themselves and how often not.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int pipes[2][2];
static long n_turns, n_loops;
static int depth;

struct player {
	int in, out;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void work(void)
{
	for (volatile long i = 0; i < n_loops; i++)
		;
}

static __attribute__((noinline)) int turn(const struct player *p, int level)
{
	volatile int done = 0;
	char c = 0;

	if (level > 0) {
		done = turn(p, level - 1);
		return done;
	}
	work();
	done = write(p->out, &c, 1) == 1 && read(p->in, &c, 1) == 1;
	return done;
}

static void *play(void *arg)
{
	for (long i = 0; i < n_turns; i++)
		if (!turn(arg, depth))
			exit(1);
	return NULL;
}

/* Seconds for so many turns, of which each thread makes half. */
static double run(long turns)
{
	struct player a = { pipes[0][0], pipes[1][1] }, b = { pipes[1][0], pipes[0][1] };
	double began = now();
	pthread_t other;

	n_turns = turns / 2;
	if (pthread_create(&other, NULL, play, &b) != 0)
		exit(1);
	play(&a);
	pthread_join(other, NULL);
	return now() - began;
}

/* What is left of a turn when its switch has been paid is work: who is woken mostly takes
 * the CPU from who wakes, which then is to wait in every other turn only. */
static void calibrate(double rate)
{
	double least = 1, loop = 1;

	for (int i = 0; i < 20; i++) {
		double began, s;

		n_loops = 0;
		s = run(2000) / 2000;
		least = s < least ? s : least;
		n_loops = 100000;
		began = now();
		work();
		s = (now() - began) / (double)n_loops;
		loop = s < loop ? s : loop;
	}
	n_loops = (long)((1 / rate - least) / loop);
	if (n_loops < 0)
		n_loops = 0;
}

static void find_work(const char *path, double rate)
{
	FILE *f = fopen(path, "r");

	if (!f) {
		calibrate(rate);
		f = fopen(path, "w");
		if (!f || fprintf(f, "%ld\n", n_loops) < 0)
			exit(1);
	} else if (fscanf(f, "%ld", &n_loops) != 1) {
		exit(1);
	}
	fclose(f);
}

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static int write_result(const char *path, double wall_s, const struct rusage *before)
{
	struct rusage u;
	FILE *f = fopen(path, "w");

	if (!f || getrusage(RUSAGE_SELF, &u) < 0)
		return 1;
	fprintf(f, "%.6f %.6f %ld %ld\n", wall_s,
		seconds(u.ru_utime) + seconds(u.ru_stime) - seconds(before->ru_utime) -
			seconds(before->ru_stime),
		u.ru_nvcsw - before->ru_nvcsw, u.ru_nivcsw - before->ru_nivcsw);
	return fclose(f) != 0;
}

int main(int argc, char **argv)
{
	struct rusage before;
	cpu_set_t set;
	double rate;

	if (argc != 6 || pipe(pipes[0]) < 0 || pipe(pipes[1]) < 0) {
		fprintf(stderr, "usage: state_load RATE SECONDS DEPTH WORK RESULT\n");
		return 2;
	}
	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
	rate = atof(argv[1]);
	depth = atoi(argv[3]);
	find_work(argv[4], rate);
	getrusage(RUSAGE_SELF, &before);
	return write_result(argv[5], run((long)(rate * atof(argv[2]))), &before);
}
