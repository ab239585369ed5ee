/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/anchor_gap.h"

#include "host/proc_maps.h"

#define LEAST_ADDR 0x10000ULL /* mmap_min_addr, as it mostly is */
/* On each side: a stack has a guard of 256 pages. */
#define FREE_BYTES 0x110000ULL

uint64_t anchor_gap_find(const char *maps, size_t n, uint64_t addr, uint64_t bytes)
{
	const char *end = maps + n;
	uint64_t before = LEAST_ADDR, best = 0;
	struct proc_map map;

	while (proc_maps_next(&maps, end, &map) && map.start <= addr) {
		if (map.start >= before + bytes + 2 * FREE_BYTES)
			best = map.start - FREE_BYTES - bytes;
		before = map.end;
	}
	return best && addr - best < ANCHOR_GAP_REACH ? best : 0;
}
