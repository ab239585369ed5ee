/* SPDX-License-Identifier: Apache-2.0
 *
 * flag_need - where code needs the arithmetic flags that it has.
 */
#ifndef DWELL_COUNT_FLAG_NEED_H
#define DWELL_COUNT_FLAG_NEED_H

#include <stdbool.h>
#include <stdint.h>

struct block;

/* Code from addr on uses flags that were set before, as far as can be seen. */
bool flag_need_at(uint64_t addr);

/* The same where it was seen to; the other says so as well where it could not look on. */
bool flag_need_is_sure(uint64_t addr);

/* The first instruction of the block before which none are needed, or -1. */
int flag_need_free_place(const struct block *b);

#endif
