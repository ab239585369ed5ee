/* SPDX-License-Identifier: Apache-2.0 */
#include "host/self_cost.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "host/procfs.h"

uint64_t self_cost_cpu_ns(void)
{
	struct rusage u = { 0 };

	getrusage(RUSAGE_SELF, &u);
	return ((uint64_t)u.ru_utime.tv_sec + (uint64_t)u.ru_stime.tv_sec) * 1000000000 +
	       ((uint64_t)u.ru_utime.tv_usec + (uint64_t)u.ru_stime.tv_usec) * 1000;
}

uint64_t self_cost_bytes(void)
{
	char text[4096];
	const char *line;

	if (procfs_read_text("/proc/self/status", text, sizeof(text), NULL) < 0)
		return 0;
	line = strstr(text, "\nRssAnon:");
	return line ? strtoull(line + strlen("\nRssAnon:"), NULL, 10) * 1024 : 0;
}
