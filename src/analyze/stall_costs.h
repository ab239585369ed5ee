/* SPDX-License-Identifier: Apache-2.0
 *
 * stall_costs - what one event may cost at worst, in cycles, on any of the machines.
 *
 * They bound what a cause can explain, so that they err towards too much.
 */
#ifndef DWELL_ANALYZE_STALL_COSTS_H
#define DWELL_ANALYZE_STALL_COSTS_H

/* From a branch's retirement until what follows it retires, when it was foreseen
 * wrongly: 14 to 15 on Zen 4 (loops of branches by chance), up to 20 by makers' guides.
 */
#define STALL_COSTS_REFILL 20.0
/* One miss: data and code from memory far away, a walk of page tables that are not
 * cached either, in a guest. */
#define STALL_COSTS_FETCH 1000.0
#define STALL_COSTS_WALK  1000.0
/* What is in some cache of the machine: the last level of large ones, at the other end of
 * a mesh.  A translation that is in the second level of its buffer. */
#define STALL_COSTS_NEAR_FETCH 250.0
#define STALL_COSTS_NEAR_WALK  10.0
/* Less than this part of what is to be explained rules a cause out. */
#define STALL_COSTS_LEAST_PART 0.05
/* The same of what the machine is bound by at best, too. */
#define STALL_COSTS_MACHINE_PART 0.25

#endif
