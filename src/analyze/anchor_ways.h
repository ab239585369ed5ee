/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_ways - of what left the blocks of a procedure by branches and indirect jumps,
 * the part that went each way in windows of exact counts.
 *
 * Windows are put together as those of leaders are.
 */
#ifndef DWELL_ANALYZE_ANCHOR_WAYS_H
#define DWELL_ANALYZE_ANCHOR_WAYS_H

#include <stdbool.h>
#include <stdint.h>

struct anchor_leaders;
struct anchor_rows;
struct procedure;

/* What is to be told, and by what; all of it is borrowed. */
struct anchor_ways_input {
	const struct anchor_rows *rows;
	const struct anchor_leaders *leaders;
	const struct procedure *procedure;
	uint32_t sym_image;
	uint64_t delta;	      /* of addresses to offsets */
	const double *blocks; /* [block * groups + group]: by what windows stand for */
};

struct anchor_ways {
	double *of;	/* [way * groups + group]: the same */
	double *left;	/* [block * groups + group]: all that left it, also elsewhere */
	bool *are_told; /* [block]: its ways */
	uint32_t n_groups;
};

/* Fills one that is all zeros. */
void anchor_ways_make(struct anchor_ways *ret, const struct anchor_ways_input *in);
void anchor_ways_fini(struct anchor_ways *w);

/* Of a way out of a block whose ways are told. */
double anchor_ways_share(const struct anchor_ways *w, const struct procedure *p,
			 uint32_t way);
/* Of its logarithm, by how much windows differ; infinite where one tells it alone. */
double anchor_ways_variance(const struct anchor_ways *w, const struct procedure *p,
			    uint32_t way);

#endif
