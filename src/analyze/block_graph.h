/* SPDX-License-Identifier: Apache-2.0
 *
 * block_graph - the basic blocks of a recording and the ways between them.
 *
 * Those of all its processes together: blocks that begin at the same place and are of
 * the same size are one.  Without names; code_graph has them.
 *
 * Of what a filter leaves out there are no ways, and blocks with 0 times: so the blocks
 * of one recording are the same ones whatever was chosen.
 */
#ifndef DWELL_ANALYZE_BLOCK_GRAPH_H
#define DWELL_ANALYZE_BLOCK_GRAPH_H

#include <stdint.h>

#include "base/vec.h"
#include "store/recording.h"

struct block_choice;

struct block_graph_block {
	uint32_t location; /* the recording's, of its first instruction */
	uint32_t size_bytes, n_instructions;
	uint32_t end;	  /* enum block_end */
	uint32_t program; /* string: the executable, 0 where all are together */
	uint64_t times;
};

struct block_graph_way {
	uint32_t from; /* block; MODEL_NONE: returned to, entered from outside */
	uint32_t to;   /* block; MODEL_NONE: none begins there, or unknown */
	uint32_t kind; /* enum edge_kind */
	uint64_t times;
};

struct block_graph {
	VEC(struct block_graph_block) blocks;
	VEC(struct block_graph_way) ways; /* by where to, the most frequent first */
	uint32_t *first_in;		  /* [block]: its first way in; n + 1 of them */
};

/* chosen: NULL for all. */
must_use int block_graph_make(struct block_graph *ret, const struct recording *r,
			      const struct block_choice *chosen, struct err *e);
/* All, but those of processes that run different executables are apart. */
must_use int block_graph_make_by_program(struct block_graph *ret,
					 const struct recording *r, struct err *e);
void block_graph_fini(struct block_graph *g);

#endif
