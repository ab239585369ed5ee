/* SPDX-License-Identifier: Apache-2.0
 *
 * low - what translated code reaches by 32-bit addresses, whichever thread runs it.
 *
 * Tables that indirect jumps go through: of code, by 16 bits that tell one target from
 * most others.  What a slot leads to checks that it is meant and goes on to the next of
 * the same slot otherwise; so a slot can be changed by one store.
 */
#ifndef DWELL_COUNT_LOW_H
#define DWELL_COUNT_LOW_H

#include <stddef.h>
#include <stdint.h>

#define LOW_SLOTS 0x10000u

struct low {
	uint64_t pairs[LOW_SLOTS]; /* by target and site */
	uint64_t out;		   /* crossing_out */
};

extern struct low *low;

/* Abort when nothing below 2 GB is free. */
void low_init(void);
void *low_reserve(size_t bytes);

static inline uint32_t low_address(const void *of)
{
	return (uint32_t)(uintptr_t)of;
}

#endif
