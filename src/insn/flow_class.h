/* SPDX-License-Identifier: Apache-2.0
 *
 * flow_class - which blocks and ways of a procedure are executed equally often, because
 * whatever comes to one has to pass the other.
 *
 * These are the classes of cycle equivalence (Johnson, Pearson, Pingali 1994) of the
 * graph that is closed by a way from its exits to its entries, found in linear time: by
 * random numbers on the ways that a spanning tree leaves out, each way's being the sum of
 * those on cycles with it.  The numbers are always the same ones.
 *
 * A block that may be entered or left by unknown ways is in no class with what these go
 * around.  Blocks that no way leads to, or from which none leads out, are so, too.
 */
#ifndef DWELL_INSN_FLOW_CLASS_H
#define DWELL_INSN_FLOW_CLASS_H

#include <stdint.h>

#define FLOW_CLASS_OUTSIDE UINT32_MAX

enum flow_class_open {
	FLOW_CLASS_OPEN_IN = 1, /* there may be ways in that are not known */
	FLOW_CLASS_OPEN_OUT = 2,
};

struct flow_class_way {
	uint32_t from, to; /* blocks, or FLOW_CLASS_OUTSIDE */
};

/* Classes are numbered in the order of their first block, then way. */
struct flow_class {
	uint32_t *of_block, *of_way;
	uint32_t of_outside; /* as often as the procedure is entered from outside */
	uint32_t n_classes;
};

/* open: enum flow_class_open of each block, NULL: all are closed. */
void flow_class_make(struct flow_class *ret, uint32_t n_blocks, const uint8_t *open,
		     const struct flow_class_way *ways, uint32_t n_ways);
void flow_class_fini(struct flow_class *c);
void flow_class_finip(struct flow_class *c);

#endif
