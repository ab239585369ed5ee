/* SPDX-License-Identifier: Apache-2.0 */
#include "host/newcomers.h"

#include <stdio.h>

#include "host/clock.h"
#include "host/procfs.h"

#define LOADAVG "/proc/loadavg"
/* More than can begin in that time without that ids begin again: there are 32768. */
#define WITHIN_NS 1000000000u
#define MOST_IDS  64 /* a listing of all is cheaper than to ask for more of them */

struct newcomers newcomers_mark(void)
{
	struct newcomers now = { .ns = clock_monotonic_ns() };
	char text[128];

	if (procfs_read_text(LOADAVG, text, sizeof(text), NULL) < 0 ||
	    sscanf(text, "%*s %*s %*s %*s %d", &now.last) != 1)
		now.last = 0;
	return now;
}

int newcomers_since(const struct newcomers *mark, struct procfs_ids *ret, struct err *e)
{
	struct newcomers now = newcomers_mark();

	if (!mark->last || now.ns - mark->ns > WITHIN_NS || now.last < mark->last ||
	    now.last - mark->last > MOST_IDS)
		return procfs_processes(ret, e);
	vec_clear(&ret->ids);
	for (pid_t id = mark->last + 1; id <= now.last; id++)
		*vec_push(&ret->ids) = id;
	return 0;
}
