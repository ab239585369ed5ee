/* SPDX-License-Identifier: Apache-2.0
 *
 * stack_stream - stacks, each behind its caller and depth first, as blocks of a
 * recording.
 *
 * Set the writer and the number of locations, release with stack_stream_fini().
 */
#ifndef DWELL_STORE_STACK_STREAM_H
#define DWELL_STORE_STACK_STREAM_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "store/model.h"

struct writer;

struct stack_stream_step {
	uint32_t id, location;
};

struct stack_stream {
	struct writer *writer;
	uint32_t n_locations;
	uint32_t n; /* stacks so far, which is the last one's id */
	/* The last one and its callers, the outermost first. */
	VEC(struct stack_stream_step) path;
	/* Of the block that grows. */
	VEC(struct model_stack) rows;
	VEC(uint32_t) ups;
	struct buf spine;
};

void stack_stream_fini(struct stack_stream *s);
/* Its caller is the last one of one level less; of the outermost the depth is 1. */
must_use int stack_stream_add(struct stack_stream *s, size_t depth, uint32_t location,
			      struct err *e);
/* All are written. */
must_use int stack_stream_end(struct stack_stream *s, struct err *e);

#endif
