/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_group - blocks that follow each other about as often as they are executed.
 *
 * Several instructions retire in one cycle, whatever blocks they are of, and after a long
 * wait those behind it all at once: only what such blocks took together tells what they
 * took too long.
 */
#ifndef DWELL_ANALYZE_STALL_GROUP_H
#define DWELL_ANALYZE_STALL_GROUP_H

#include "analyze/function_code.h"

/* [block]: the first block of its group; the caller frees it. */
uint32_t *stall_group_find(const struct function_code *c);

#endif
