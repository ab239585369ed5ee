/* SPDX-License-Identifier: Apache-2.0
 *
 * block_cut - where blocks of rows that are sorted by image end: each is of one image, or
 * of a few neighbouring small ones, as a block of its own takes a hundred bytes.
 */
#ifndef DWELL_STORE_BLOCK_CUT_H
#define DWELL_STORE_BLOCK_CUT_H

#include <stddef.h>
#include <stdint.h>

/* Rows of a block, and all that the decision looks at. */
#define BLOCK_CUT_MAX (1u << 16)

/* How many of the n rows at images make the first block. */
size_t block_cut(const uint32_t *images, size_t n);

#endif
