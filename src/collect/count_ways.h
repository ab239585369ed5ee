/* SPDX-License-Identifier: Apache-2.0
 *
 * count_ways - where a block of a file of counts leads by itself.
 *
 * What the ways of indirect jumps and calls are, pairs tell; of returns to it, returns.
 */
#ifndef DWELL_COLLECT_COUNT_WAYS_H
#define DWELL_COLLECT_COUNT_WAYS_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/count_file.h"

struct count_way {
	bool is_there;
	bool is_out; /* of all code that is known: the place is none */
	uint32_t nest;
	uint64_t addr;
	uint32_t counter; /* 0: without */
};

struct count_ways {
	struct count_way on, to; /* to the next by address, to the target */
};

struct count_ways count_ways_of(const struct count_file_block *b);

/* Of a place, for tables: addresses of programs do not reach as far as nests. */
static inline uint64_t count_ways_key(uint32_t nest, uint64_t addr)
{
	return addr ^ (uint64_t)nest << 57;
}

#endif
