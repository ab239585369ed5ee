/* SPDX-License-Identifier: Apache-2.0
 *
 * empty_event - the floor of sampling: the timer fires, nobody looks.
 *
 *	usage: empty_event PERIOD-NS COMMAND…
 *
 * Runs COMMAND with a cpu-clock event in all its threads and children that has no
 * buffer, so that each interrupt finds nothing to do.  What a profiler costs above
 * this is its own.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.inherit = 1,
		.enable_on_exec = 1,
	};

	if (argc < 3 || !(attr.sample_period = strtoull(argv[1], NULL, 10))) {
		fprintf(stderr, "usage: empty_event PERIOD-NS COMMAND...\n");
		return 2;
	}
	/* Not close-on-exec: the event lives as long as the descriptor. */
	if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0) < 0) {
		perror("empty_event: perf_event_open");
		return 1;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
