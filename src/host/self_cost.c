/* SPDX-License-Identifier: Apache-2.0 */
#include "host/self_cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/procfs.h"

static uint64_t cpu_ns(int who)
{
	struct rusage u = { 0 };

	getrusage(who, &u);
	return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000 +
	       ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000;
}

uint64_t self_cost_cpu_ns(void)
{
	return cpu_ns(RUSAGE_SELF);
}

uint64_t self_cost_cpu_ns_of(pid_t child)
{
	clockid_t clock;

	return clock_getcpuclockid(child, &clock) == 0 ? clock_read_ns(clock) : 0;
}

uint64_t self_cost_children_cpu_ns(void)
{
	return cpu_ns(RUSAGE_CHILDREN);
}

uint64_t self_cost_children_peak_bytes(void)
{
	struct rusage u = { 0 };

	getrusage(RUSAGE_CHILDREN, &u);
	return (uint64_t)u.ru_maxrss * 1024;
}

uint64_t self_cost_bytes(void)
{
	return self_cost_bytes_of(getpid());
}

uint64_t self_cost_bytes_of(pid_t child)
{
	char path[64], text[4096];
	const char *line;

	snprintf(path, sizeof(path), "/proc/%d/status", child);
	if (procfs_read_text(path, text, sizeof(text), NULL) < 0)
		return 0;
	line = strstr(text, "\nRssAnon:");
	return line ? strtoull(line + strlen("\nRssAnon:"), NULL, 10) * 1024 : 0;
}
