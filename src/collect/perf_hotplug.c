/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_hotplug.h"

#define LOOK_NS 100000000

void perf_hotplug_fini(struct perf_hotplug *h)
{
	cpus_fini(&h->online);
}

/* A CPU counts as online from when its events could be opened: it says so a moment before
 * it is. */
static bool take_change(struct perf_hotplug *h, const struct cpus *now,
			struct perf_files *f, bool is_machine)
{
	struct cpus old = h->online;
	bool has_opened = false;

	h->online = (struct cpus){ 0 };
	vec_each(cpu, &now->ids) {
		if (!cpus_has(&old, *cpu)) {
			if (perf_files_reopen(f, *cpu, is_machine, NULL) < 0)
				continue;
			has_opened = true;
			h->n_changes++;
		}
		*vec_push(&h->online.ids) = *cpu;
	}
	vec_each(cpu, &old.ids)
		h->n_changes += !cpus_has(now, *cpu);
	cpus_fini(&old);
	return has_opened;
}

bool perf_hotplug_check(struct perf_hotplug *h, uint64_t now_ns, struct perf_files *f,
			bool is_machine)
{
	struct cpus now = { 0 };
	bool has_opened = false;

	if (now_ns < h->next_ns)
		return false;
	h->next_ns = now_ns + LOOK_NS;
	if (cpus_online(&now, NULL) < 0) {
		cpus_fini(&now);
		return false;
	}
	if (!h->online.ids.n) { /* the first look */
		h->online = now;
		return false;
	}
	has_opened = take_change(h, &now, f, is_machine);
	cpus_fini(&now);
	return has_opened;
}
