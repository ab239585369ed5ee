/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/event_name.h"

#include <string.h>

#include "analyze/stall.h"
#include "analyze/stall_costs.h"

#define FETCH	   STALL_COSTS_FETCH
#define NEAR_FETCH STALL_COSTS_NEAR_FETCH
#define WALK	   STALL_COSTS_WALK
#define NEAR_WALK  STALL_COSTS_NEAR_WALK

/* Dwell's names, then those that perf has for the same.  "cache-misses" are of the last
 * level, or of the second one: what misses nearer ones is not told. */
static const struct event_name names[] = {
	{ "l1d-misses", STALL_DCACHE, FETCH, 0 },
	{ "llc-misses", STALL_DCACHE, FETCH, NEAR_FETCH },
	{ "cache-misses", STALL_DCACHE, FETCH, NEAR_FETCH },
	{ "dtlb-misses", STALL_DTLB, WALK, NEAR_WALK },
	{ "l1i-misses", STALL_ICACHE, FETCH, 0 },
	{ "itlb-misses", STALL_ITLB, WALK, NEAR_WALK },
	{ "branch-misses", STALL_BRANCH, STALL_COSTS_REFILL, 0 },
	{ "L1-dcache-load-misses", STALL_DCACHE, FETCH, 0 },
	{ "LLC-load-misses", STALL_DCACHE, FETCH, NEAR_FETCH },
	{ "dTLB-load-misses", STALL_DTLB, WALK, NEAR_WALK },
	{ "L1-icache-load-misses", STALL_ICACHE, FETCH, 0 },
	{ "iTLB-load-misses", STALL_ITLB, WALK, NEAR_WALK },
};

struct parts {
	const char *name, *modifiers;
	size_t n; /* bytes of the name */
};

/* "cpu/NAME/MODIFIERS" is what the CPU's device calls it, "NAME:MODIFIERS" everybody. */
static struct parts parts_of(const char *text)
{
	const char *slash = strchr(text, '/');
	struct parts p = { .name = slash ? slash + 1 : text };

	p.n = strcspn(p.name, slash ? "/" : ":");
	p.modifiers = p.name[p.n] ? p.name + p.n + 1 : "";
	return p;
}

bool event_name_is_precise(const char *name)
{
	return strchr(parts_of(name).modifiers, 'p');
}

bool event_name_has_user(const char *name)
{
	const char *modifiers = parts_of(name).modifiers;

	return strchr(modifiers, 'u') || !strpbrk(modifiers, "kh");
}

const struct event_name *event_name_find(const char *name)
{
	struct parts p = parts_of(name);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i].name) == p.n &&
		    strncmp(names[i].name, p.name, p.n) == 0)
			return event_name_has_user(name) ? &names[i] : NULL;
	return NULL;
}
