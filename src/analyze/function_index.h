/* SPDX-License-Identifier: Apache-2.0
 *
 * function_index - what a profile has of single instructions, by function.
 *
 * For one function all stacks are gone through; for many it is done once, here.  Borrows
 * the profile; constant once made.
 */
#ifndef DWELL_ANALYZE_FUNCTION_INDEX_H
#define DWELL_ANALYZE_FUNCTION_INDEX_H

#include "analyze/block_graph.h"
#include "analyze/listing.h"

struct anchoring;
struct code_heat;
struct function_index;

/* Directions are of the source of time, ways of that of counts; MODEL_NONE: none is. */
must_use int function_index_new(const struct profile *p, uint32_t time_source,
				uint32_t count_source, struct function_index **ret,
				struct err *e);
void function_index_free(struct function_index *x);
void function_index_freep(struct function_index **x);

/* What of all functions was counted exactly now and then: the index frees it. */
void function_index_take_anchoring(struct function_index *x, struct anchoring *a);
/* NULL: nothing was. */
const struct anchoring *function_index_anchoring(const struct function_index *x);

/* Which code of the program is hot; borrowed. */
const struct code_heat *function_index_heat(const struct function_index *x);

/* Of a listing its instructions, without inclusive values, and the delta of its code;
 * borrowed: not for listing_fini(). */
void function_index_listing(const struct function_index *x, uint32_t function,
			    struct listing *ret);
/* Samples of a column in its own code, with what is inlined there. */
uint64_t function_index_samples(const struct function_index *x, uint32_t function,
				size_t column);
/* Indices of the graph's ways that come from one of the function's blocks. */
const uint32_t *function_index_ways(const struct function_index *x, uint32_t function,
				    size_t *ret_n);
/* Directions of branches between two offsets of an image of the symbolizer. */
must_use int function_index_each_direction(const struct function_index *x,
					   uint32_t sym_image, uint64_t from_off,
					   uint64_t end_off, recording_direction_fn *fn,
					   void *ctx, struct err *e);
/* The same of what is told of accesses. */
must_use int function_index_each_access(const struct function_index *x,
					uint32_t sym_image, uint64_t from_off,
					uint64_t end_off, recording_access_fn *fn,
					void *ctx, struct err *e);

#endif
