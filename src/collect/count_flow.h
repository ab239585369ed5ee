/* SPDX-License-Identifier: Apache-2.0
 *
 * count_flow - how often each block was executed and each way between them taken.
 *
 * The counting engine leaves out counters that can be told from the others, because what
 * flows into a block flows out of it.  Here they are told.  A way without a counter is
 * one unknown; where all others of a block are known, so is it.
 */
#ifndef DWELL_COLLECT_COUNT_FLOW_H
#define DWELL_COLLECT_COUNT_FLOW_H

#include <stddef.h>
#include <stdint.h>

#include "collect/count_places.h"
#include "wire/count_file.h"

/* Of one process; counters are the sums over its threads. */
struct count_flow_input {
	const struct count_file_block *blocks;
	const struct count_file_pair *pairs;
	const struct count_file_return *returns;
	const struct count_file_extra *extras;
	const uint64_t *counters;
	size_t n_blocks, n_pairs, n_returns, n_extras, n_counters;
	struct count_places places; /* as many; if nobody has told them they are found */
};

struct count_flow_block {
	int64_t n;	/* entered */
	int64_t on, to; /* ways: to the next by address, to the target */
	int64_t returned_to;
};

struct count_flow {
	struct count_flow_block *blocks;
	uint64_t n_unbalanced; /* executions that came from or went nowhere */
	uint64_t n_unknown;    /* ways that could not be told */
};

/* Indices that are out of range count as nothing. */
void count_flow_solve(const struct count_flow_input *in, struct count_flow *ret);
void count_flow_fini(struct count_flow *f);

#endif
