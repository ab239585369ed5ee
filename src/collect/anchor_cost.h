/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_cost - what a counter (collect/anchor_counters) takes each time on this machine,
 * at most: its instructions in a loop of nothing else.
 *
 * Where the processor waits for something else it takes nothing.
 */
#ifndef DWELL_COLLECT_ANCHOR_COST_H
#define DWELL_COLLECT_ANCHOR_COST_H

double anchor_cost_hit_ns(void);

#endif
