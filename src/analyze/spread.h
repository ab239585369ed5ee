/* SPDX-License-Identifier: Apache-2.0
 *
 * spread - how much a value differs over many recordings.
 *
 * A recording in which a row does not occur counts as 0.  Values may be scaled so that
 * every recording's total is the mean one: then it is shares that are compared.
 */
#ifndef DWELL_ANALYZE_SPREAD_H
#define DWELL_ANALYZE_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/comparison.h"

/* One event of all recordings. */
struct spread_sets {
	const struct profile *profile;
	size_t n;
	struct spread_set {
		size_t column;
		double factor; /* what values are multiplied by */
		double total;  /* of the recording, multiplied */
		double each;   /* weight of a sample, multiplied; 0: not sampled */
	} * at;
};

struct spread {
	size_t n; /* recordings in which it is not 0 */
	double sum, mean, min, max;
	double deviation; /* standard deviation of a sample: over n - 1 */
	double range;	  /* (max - min) / sum, from 0 to 1; 0 of nothing */
	bool is_chance;	  /* sampling alone spreads as much once in twenty times */
};

void spread_sets_init(struct spread_sets *ret, const struct profile *p,
		      const struct comparison *c, size_t event, bool is_share);
void spread_sets_fini(struct spread_sets *s);

/* values: of one row, by column of the profile. */
struct spread spread_of(const struct spread_sets *s, const uint64_t *values);
/* Of the recordings' totals; no chance: a total is not estimated from samples of more. */
struct spread spread_of_totals(const struct spread_sets *s);

#endif
