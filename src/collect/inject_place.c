/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/inject_place.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "host/proc_maps.h"
#include "host/procfs.h"
#include "wire/injected.h"

/* A bit for each place in which there is something. */
static uint64_t find_used(const char *text, size_t bytes)
{
	own(freep) struct proc_map *map = xcalloc(1, sizeof(*map));
	const char *end = text + bytes;
	uint64_t used = 0;

	while (proc_maps_next(&text, end, map))
		for (unsigned i = 0; i < INJECT_PLACE_N; i++) {
			uint64_t at = INJECT_PLACE_FIRST + i * INJECT_PLACE_STRIDE;

			if (map->start < at + INJECT_PLACE_STRIDE && map->end > at)
				used |= UINT64_C(1) << i;
		}
	return used;
}

static bool is_there(const struct wire_injected *head)
{
	struct procfs_stat stat;

	return procfs_stat((pid_t)head->owner_pid, &stat, NULL) == 0 &&
	       stat.start_ns == head->owner_start;
}

int inject_place_choose(const struct inject_memory *m, uint64_t at, const char *maps,
			size_t maps_bytes, uint64_t library, struct inject_place *ret,
			struct err *e)
{
	uint64_t used = find_used(maps, maps_bytes);
	bool is_found = false;

	for (unsigned i = 0; i < INJECT_PLACE_N; i++) {
		uint64_t here = INJECT_PLACE_FIRST + i * INJECT_PLACE_STRIDE;
		bool is_used = used >> i & 1;
		struct wire_injected head = { 0 };

		if (is_used && (!inject_memory_read(m, here, &head, sizeof(head)) ||
				head.magic != WIRE_INJECTED_MAGIC))
			continue;
		if (is_used && head.is_patched && is_there(&head))
			return err_set(e, ERR_UNSUPPORTED, "process %u traces it already",
				       head.owner_pid);
		if (is_found || here < at || (is_used && head.library != library))
			continue;
		is_found = true;
		*ret = (struct inject_place){ .at = here, .is_mapped = is_used };
	}
	return is_found ? 0
			: err_set(e, ERR_UNSUPPORTED,
				  "threads of it are still in what was put into it "
				  "before");
}

#define CALLS_MAX                                                                        \
	((INJECT_PLACE_HEAD - sizeof(struct wire_injected)) /                            \
	 sizeof(struct wire_injected_call))

uint64_t inject_place_leads_to(const struct inject_memory *m, uint64_t at,
			       const char *name)
{
	uint64_t here = at - (at - INJECT_PLACE_FIRST) % INJECT_PLACE_STRIDE;
	struct wire_injected head = { 0 };
	struct wire_injected_call call;

	if (!inject_memory_read(m, here, &head, sizeof(head)) ||
	    head.magic != WIRE_INJECTED_MAGIC)
		return 0;
	for (uint64_t i = 0; i < head.n_calls && i < CALLS_MAX; i++)
		if (inject_memory_read(m, here + sizeof(head) + i * sizeof(call), &call,
				       sizeof(call)) &&
		    !strncmp(call.name, name, sizeof(call.name)))
			return call.address;
	return 0;
}

bool inject_place_is_led(const struct inject_memory *m, pid_t by)
{
	bool is = false;

	for (unsigned i = 0; i < INJECT_PLACE_N; i++) {
		uint64_t here = INJECT_PLACE_FIRST + i * INJECT_PLACE_STRIDE;
		struct wire_injected head = { 0 };

		is |= inject_memory_read(m, here, &head, sizeof(head)) &&
		      head.magic == WIRE_INJECTED_MAGIC && head.is_patched &&
		      head.owner_pid == (uint32_t)by && is_there(&head);
	}
	return is;
}
