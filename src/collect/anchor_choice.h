/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_choice - which blocks of a program are watched while it runs natively.
 *
 * Those that are executed rarely enough to be stopped at, often enough to tell
 * something in a moment, and that are near the code that is executed most: what is of the
 * same loop or function is executed in the same phases of a program.
 */
#ifndef DWELL_COLLECT_ANCHOR_CHOICE_H
#define DWELL_COLLECT_ANCHOR_CHOICE_H

#include <stddef.h>
#include <stdint.h>

struct anchor_choice_block {
	uint64_t addr;
	uint64_t times; /* in the time that is told */
	uint32_t n_insns, size_bytes;
};

#define ANCHOR_CHOICE_MAX 4

/* cpu_ns: natively, about.  Returns how many of ret there are, best first. */
size_t anchor_choice_make(const struct anchor_choice_block *blocks, size_t n,
			  uint64_t cpu_ns, uint64_t ret[ANCHOR_CHOICE_MAX]);

#endif
