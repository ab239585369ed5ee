/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_forward - the stores whose bytes a load may have to wait for, because they have
 * not left the processor yet.
 *
 * By the code: shortly before the load, on the ways that lead to it, to where it loads
 * from or by an index from the same base on.  Of addresses that have nothing in common
 * there, by those that were seen after samples.
 */
#ifndef DWELL_ANALYZE_STALL_FORWARD_H
#define DWELL_ANALYZE_STALL_FORWARD_H

#include "analyze/function_code.h"

#define STALL_FORWARD_MAX 4

struct stall_forward {
	uint32_t store; /* step */
	double share;	/* of the times of the load, that it is the last such one before,
			 * at most */
};

/* The step is a load of that block.  Returns how many; of more, those that are it most
 * often. */
unsigned stall_forward_find(const struct function_code *c, uint32_t block, uint32_t step,
			    struct stall_forward ret[STALL_FORWARD_MAX]);

#endif
