/* SPDX-License-Identifier: Apache-2.0
 *
 * loop_nest - which loops of a procedure its blocks are in, and which of these are in
 * others.
 *
 * A loop is known by its header, the block by which it is entered; one that is entered
 * by several, as only jumps into its middle make, has the first of these that is come to,
 * depth first from the procedure's entry, and is noted.  Loops with one header are one.
 * A block that nothing known leads to is in the loops that it leads back to itself.
 */
#ifndef DWELL_INSN_LOOP_NEST_H
#define DWELL_INSN_LOOP_NEST_H

#include <stdbool.h>
#include <stdint.h>

struct procedure;

#define LOOP_NEST_NONE UINT32_MAX

struct loop_nest_block {
	uint32_t loop;	/* header of the innermost one, itself if it is one, or NONE */
	uint32_t outer; /* of a header: that of the next loop around its own, or NONE */
	uint32_t depth; /* loops that it is in */
	bool is_header;
	bool is_entered_elsewhere; /* of a header: its loop, by another block, too */
};

struct loop_nest {
	struct loop_nest_block *blocks;
};

void loop_nest_make(struct loop_nest *ret, const struct procedure *p);
void loop_nest_fini(struct loop_nest *n);

#endif
