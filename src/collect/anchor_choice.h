/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_choice - what of a program is watched while it runs natively.
 *
 * Blocks that are executed rarely enough to be stopped at, or calls and jumps that are
 * rare enough to go through a counter; often enough to tell something in a moment; and
 * near the code that is executed most: what is of the same loop or function is executed
 * in the same phases of a program.
 */
#ifndef DWELL_COLLECT_ANCHOR_CHOICE_H
#define DWELL_COLLECT_ANCHOR_CHOICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/anchor_site.h"

struct anchor_choice_block {
	uint64_t addr;
	uint64_t times; /* in the time that is told */
	uint32_t n_insns, size_bytes;
};

#define ANCHOR_CHOICE_MAX   4
#define ANCHOR_CHOICE_SITES 8

/* cpu_ns: natively, about.  Returns how many of ret there are, best first. */
size_t anchor_choice_make(const struct anchor_choice_block *blocks, size_t n,
			  uint64_t cpu_ns, uint64_t ret[ANCHOR_CHOICE_MAX]);

/* Which calls and jumps are to have counters, by the same window: all of the time, or for
 * moments only, where they may be met far more often. */
struct anchor_choice_sites {
	const struct anchor_site *at; /* each once */
	const bool *is_there;	      /* of each: it has a counter already */
	const bool *is_on;	      /* of each: one of this kind, that still counts */
	size_t n;
	double most_rate; /* of all of them together, a second; for moments, of several */
	bool is_for_moments;
};

/* Those that are to have one, too: their numbers. */
size_t anchor_choice_sites(const struct anchor_choice_block *blocks, size_t n,
			   uint64_t cpu_ns, const struct anchor_choice_sites *sites,
			   size_t ret[ANCHOR_CHOICE_SITES]);

#endif
