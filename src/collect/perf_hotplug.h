/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_hotplug - CPUs that come online while a recording goes on.
 *
 * A thread's events are open on every CPU that is there, online or not, and go on when it
 * returns.  An event of a whole CPU ends when the CPU goes, so it is opened again.
 */
#ifndef DWELL_COLLECT_PERF_HOTPLUG_H
#define DWELL_COLLECT_PERF_HOTPLUG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/cpu_watch.h"
#include "collect/perf_files.h"

struct perf_hotplug {
	struct cpu_watch watch;
};

void perf_hotplug_fini(struct perf_hotplug *h);
/* Before the files are opened. */
must_use int perf_hotplug_begin(struct perf_hotplug *h, struct err *e);
/* Looks now and then; is_machine: the recording is of whole CPUs.  True: events were
 * opened. */
bool perf_hotplug_check(struct perf_hotplug *h, uint64_t now_ns, struct perf_files *f,
			bool is_machine);

#endif
