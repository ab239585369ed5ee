/* SPDX-License-Identifier: Apache-2.0
 *
 * child_usage - runs a command and writes what it used, whoever started us.
 *
 *	usage: child_usage FILE COMMAND…
 *
 * A profiler is measured together with its target; this tells the target's part:
 * user, system and wall seconds in FILE.
 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	double started = now();
	int status = 0;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: child_usage FILE COMMAND...\n");
		return 2;
	}
	pid = fork();
	if (pid == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (pid < 0 || wait4(pid, &status, 0, &usage) != pid)
		return 1;

	FILE *out = fopen(argv[1], "w");

	if (!out)
		return 1;
	fprintf(out, "%.6f %.6f %.6f\n", seconds(usage.ru_utime), seconds(usage.ru_stime),
		now() - started);
	fclose(out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
