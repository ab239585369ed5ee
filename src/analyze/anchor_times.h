/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_times - the time of each function, by samples: near windows of exact counts, and
 * in all.
 *
 * A function that has more of the time elsewhere than it has near windows was executed
 * oftener there, whatever windows agree on: they did not meet it.  What is near is not
 * known to be like a window for longer than a program does one thing, and short moments
 * have few samples: there is a leader for each of some lengths, and the windows tell
 * which their counts go with.
 */
#ifndef DWELL_ANALYZE_ANCHOR_TIMES_H
#define DWELL_ANALYZE_ANCHOR_TIMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/map.h"
#include "base/vec.h"

struct anchor_leader;
struct anchor_leaders;
struct anchor_program;
struct anchor_rows;

enum { ANCHOR_TIMES_LENGTHS = 3 };

struct anchor_times {
	struct map of_function;	      /* a number, by the function's */
	VEC(struct anchor_leader) at; /* of each function: LENGTHS */
};

/* Fills one that is all zeros, of a program that is one process and whose windows are
 * weighed. */
void anchor_times_make(struct anchor_times *ret, const struct anchor_program *program,
		       const struct anchor_rows *rows, const struct anchor_leaders *l);
void anchor_times_fini(struct anchor_times *t);

/* LENGTHS leaders that are no places; NULL: of the function there are no samples. */
const struct anchor_leader *anchor_times_find(const struct anchor_times *t,
					      uint32_t sym_image, uint64_t start);

#endif
