/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_length.h"

#include <time.h>

struct anchor_length anchor_length_of(uint64_t cpu_ns, uint64_t wall_ns)
{
	struct timespec tick = { 0 };

	clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
	return (struct anchor_length){ cpu_ns, wall_ns, (uint64_t)tick.tv_nsec };
}

/* Of who runs half a tick is missing on average. */
bool anchor_length_is_over(const struct anchor_length *l, uint64_t cpu_ns,
			   uint64_t wall_ns)
{
	return cpu_ns >= l->cpu_ns || wall_ns >= l->wall_ns ||
	       (wall_ns >= l->cpu_ns && cpu_ns + l->tick_ns / 2 >= l->cpu_ns);
}
