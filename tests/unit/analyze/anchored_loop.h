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

#include <stdint.h>

#include "analyze/anchoring.h"

enum { ANCHORED_LOOP_TURN, ANCHORED_LOOP_RETURN, ANCHORED_LOOP_BLOCKS };

/* How many windows tell that; 0: nothing does. */
uint32_t anchored_loop_find(const char *path,
			    struct anchoring_block ret[ANCHORED_LOOP_BLOCKS]);

#endif
