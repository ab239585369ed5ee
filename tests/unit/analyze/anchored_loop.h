/* SPDX-License-Identifier: Apache-2.0
 *
 * anchored_loop - a function that is a loop and a return, and how often anchors of a
 * recording tell that they were executed.
 *
 * In the recording it is at 0x100 of the first image: the loop has 8 bytes, what returns
 * one.
 */
#ifndef DWELL_UNIT_ANCHORED_LOOP_H
#define DWELL_UNIT_ANCHORED_LOOP_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/anchoring.h"

enum { ANCHORED_LOOP_TURN, ANCHORED_LOOP_RETURN, ANCHORED_LOOP_BLOCKS };
/* The turn's, and who returns and enters. */
enum { ANCHORED_LOOP_AGAIN, ANCHORED_LOOP_ON, ANCHORED_LOOP_WAYS = 4 };

/* How many windows tell that; 0: nothing does. */
uint32_t anchored_loop_find(const char *path,
			    struct anchoring_block ret[ANCHORED_LOOP_BLOCKS]);
/* Where a filter chooses samples. */
uint32_t anchored_loop_find_chosen(const char *path, const char *filter,
				   struct anchoring_block ret[ANCHORED_LOOP_BLOCKS]);
/* In all of n recordings. */
uint32_t anchored_loop_find_in(const char *const *paths, size_t n,
			       struct anchoring_block ret[ANCHORED_LOOP_BLOCKS]);
uint32_t anchored_loop_find_ways(const char *path,
				 struct anchoring_block ret_blocks[ANCHORED_LOOP_BLOCKS],
				 struct anchoring_way ret_ways[ANCHORED_LOOP_WAYS]);

#endif
