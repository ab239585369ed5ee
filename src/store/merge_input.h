/* SPDX-License-Identifier: Apache-2.0
 *
 * merge_input - a recording that is one of those to be merged, read along its order.
 *
 * Only what a tally was written as has that order: stacks depth first with callees by
 * location, samples by event, image of the innermost frame, thread, CPU and stack.
 * Anything else is refused.  Everything is told in ids of the merged recording.
 */
#ifndef DWELL_STORE_MERGE_INPUT_H
#define DWELL_STORE_MERGE_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "store/recording.h"
#include "store/sample_block.h"
#include "store/tally_data.h"

struct merge_input {
	struct recording *recording;
	/* To ids of the tally and then of the merged recording; stacks are known up to
	 * the one that was passed last. */
	struct tally_translation to;
	uint32_t *stack;
	uint32_t n_locations;

	/* The stack it is at; depth 0: it has no more. */
	size_t depth;
	uint32_t id, location;
	/* Of its block. */
	size_t next_block, at, n;
	VEC(uint32_t) ups, locations;
	VEC(uint32_t) path; /* locations from the outermost to the last one's */
	struct buf stored, raw, scratch;

	/* The samples it is at; false: it has no more. */
	bool has_row;
	struct model_sample row;
	uint32_t image; /* of its innermost frame, MODEL_NONE: there is none */
	size_t next_row_block, at_row;
	struct sample_block rows;
};

/* All but stacks and samples goes into the tally. */
must_use int merge_input_open(struct merge_input *in, const char *path, struct tally *t,
			      struct err *e);
void merge_input_fini(struct merge_input *in);

/* The tally's ids are these of the merged recording; then it is at its first stack. */
must_use int merge_input_begin_stacks(struct merge_input *in, const struct tally_order *o,
				      struct err *e);
/* The one it is at has that id; on to the next. */
must_use int merge_input_pass_stack(struct merge_input *in, uint32_t id, struct err *e);

/* After the last stack.  images: of the innermost frame, by id of the merged recording;
 * borrowed until the last row. */
must_use int merge_input_next_row(struct merge_input *in, const uint32_t *images,
				  struct err *e);
/* Which comes first in the merged recording: < 0, 0, > 0. */
int merge_input_compare_rows(const struct merge_input *a, const struct merge_input *b);

#endif
