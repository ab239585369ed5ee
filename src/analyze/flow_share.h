/* SPDX-License-Identifier: Apache-2.0
 *
 * flow_share - how much of a function's instructions are executed about as often as a
 * block.
 *
 * Where all of a function's instructions together are known, the blocks that are most of
 * them are known well, and how often the others were executed is as right as the shape.
 */
#ifndef DWELL_ANALYZE_FLOW_SHARE_H
#define DWELL_ANALYZE_FLOW_SHARE_H

#include <stdint.h>

struct procedure;

/* often[block]: by any scale.  ret[block] is from 0 to 1. */
void flow_share_make(const struct procedure *p, const double *often, double *ret);

#endif
