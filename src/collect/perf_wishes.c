/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/perf_wishes.h"

#include <string.h>

#define BLOCK_BITS 8
#define ADDR_BITS  48
#define PID_BITS   (64 - PERF_WISHES_PID_SHIFT)

static bool is_wished(const struct perf_wishes *w, uint64_t wish)
{
	for (unsigned i = 0; i < PERF_WISHES_SLOTS; i++)
		if (w->slots[i] == wish)
			return true;
	return false;
}

/* To the front; whether it was there before. */
static bool remember(struct perf_wishes *w, uint64_t wish)
{
	unsigned n = PERF_WISHES_CANDIDATES - 1;
	bool was_missed = false;

	for (unsigned i = 0; i < PERF_WISHES_CANDIDATES && !was_missed; i++)
		if (w->missed[i] == wish) {
			was_missed = true;
			n = i;
		}
	memmove(w->missed + 1, w->missed, n * sizeof(w->missed[0]));
	w->missed[0] = wish;
	return was_missed;
}

bool perf_wishes_miss(struct perf_wishes *w, uint32_t pid, uint64_t addr,
		      uint32_t *ret_slot)
{
	uint64_t wish = (uint64_t)pid << PERF_WISHES_PID_SHIFT | addr >> BLOCK_BITS;

	if (addr >> ADDR_BITS || (uint64_t)pid >> PID_BITS || is_wished(w, wish) ||
	    !remember(w, wish))
		return false;
	*ret_slot = w->next;
	w->slots[w->next] = wish;
	w->next = (w->next + 1) % PERF_WISHES_SLOTS;
	return true;
}
