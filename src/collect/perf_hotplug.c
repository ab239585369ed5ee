/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_hotplug.h"

#define LOOK_NS 100000000

struct opening {
	struct perf_files *files;
	bool is_machine;
};

void perf_hotplug_fini(struct perf_hotplug *h)
{
	cpu_watch_fini(&h->watch);
}

int perf_hotplug_begin(struct perf_hotplug *h, struct err *e)
{
	h->watch.every_ns = LOOK_NS;
	return cpu_watch_begin(&h->watch, e);
}

static bool open_cpu(void *ctx, uint32_t cpu)
{
	struct opening *o = ctx;

	return perf_files_reopen(o->files, cpu, o->is_machine, NULL) == 0;
}

bool perf_hotplug_check(struct perf_hotplug *h, uint64_t now_ns, struct perf_files *f,
			bool is_machine)
{
	struct opening o = { .files = f, .is_machine = is_machine };
	const struct cpu_watch_user user = { .ctx = &o, .open = open_cpu };

	return cpu_watch_look(&h->watch, now_ns, &user);
}
