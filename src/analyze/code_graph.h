/* SPDX-License-Identifier: Apache-2.0
 *
 * code_graph - basic blocks with their functions, and which function calls which.
 *
 * Of one recording of a profile, all its processes together, what its filter lets pass:
 * blocks by their first instructions, calls by those that call.  Borrows names from the
 * profile's symbolizer.
 */
#ifndef DWELL_ANALYZE_CODE_GRAPH_H
#define DWELL_ANALYZE_CODE_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "base/vec.h"

struct code_graph_block {
	uint32_t image;	   /* id in the recording */
	uint32_t function; /* the symbolizer's, of the code; not what is inlined in it */
	uint64_t offset, address; /* as stored, and link-time */
	const char *file;	  /* where it begins, NULL unknown */
	uint32_t line;
	uint32_t size_bytes, n_instructions;
	uint32_t end; /* enum block_end */
	uint64_t times;
	double cycles; /* of the ideal time of one; negative: not worked out, unknown */
};

/* How one function comes to another. */
struct code_graph_call {
	uint32_t caller, callee; /* the symbolizer's functions */
	bool is_jump;		 /* to the callee's begin, without return address */
	bool is_indirect;
	uint64_t times;
};

struct code_graph {
	VEC(struct code_graph_block) blocks; /* most entered first */
	VEC(struct code_graph_call) calls;   /* most frequent first */
};

must_use int code_graph_make(struct code_graph *ret, const struct profile *p,
			     size_t source, struct err *e);
void code_graph_fini(struct code_graph *g);

#endif
