/* SPDX-License-Identifier: Apache-2.0
 *
 * model_anchor - what a recording has of exact counts of now and then: blocks and places,
 * and where blocks went on.
 */
#ifndef DWELL_STORE_MODEL_ANCHOR_H
#define DWELL_STORE_MODEL_ANCHOR_H

#include <stdint.h>

/* What was counted exactly now and then of a process that ran natively otherwise: blocks
 * in windows of time in which it ran in translation, and places where the CPU stopped. */
struct model_anchor {
	uint32_t process;
	uint32_t window;     /* its number, from 0 on; outside of them, the next one's */
	uint32_t location;   /* MODEL_NONE: nothing was counted, only time passed */
	uint32_t size_bytes; /* of the block; 0: a place that was watched natively */
	uint64_t times;	     /* it was executed */
	uint64_t cpu_ns;     /* natively, of the process, or for which it was watched; of
			      * one block of each window, what that took */
	uint8_t is_near;     /* right before or behind the window: a part of the others */
};

/* In such a window: where a jump went that may go elsewhere, too.  Of branches that they
 * were taken, and of each target of an indirect jump or call; others are not kept. */
struct model_anchor_way {
	uint32_t process, window; /* as the blocks' */
	uint32_t behind;	  /* location of what follows the jump by address */
	uint32_t to;		  /* location, MODEL_NONE: not known */
	uint64_t times;
};

#endif
