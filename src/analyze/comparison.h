/* SPDX-License-Identifier: Apache-2.0
 *
 * comparison - what changed from the first of several recordings to each of the others.
 *
 * Only events that all of them have can be compared.  Functions are the same when their
 * names, those of their images and, where known, those of their source files are, so that
 * two builds of a program compare.
 */
#ifndef DWELL_ANALYZE_COMPARISON_H
#define DWELL_ANALYZE_COMPARISON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"

struct comparison {
	size_t n_sources, n_events;
	bool is_share;	 /* all are scaled to the total of the first */
	bool is_ideal;	 /* the first is what the second would be at best */
	size_t *columns; /* of the profile: [event * n_sources + source] */
};

/* shown: the columns of the profile that a report has, in its order.  Without two
 * recordings of one event n_events is 0. */
void comparison_find(struct comparison *ret, const struct profile *p, const size_t *shown,
		     size_t n_shown);
/* The ideal time of one recording and the sampled CPU time of another.  False: there are
 * no two such. */
bool comparison_find_ideal(struct comparison *ret, const struct profile *p);
void comparison_fini(struct comparison *c);
size_t comparison_column(const struct comparison *c, size_t event, size_t source);
/* What values of a source are multiplied by: 1 unless shares are compared. */
double comparison_factor(const struct comparison *c, const struct profile *p,
			 size_t event, size_t source);

/* What a sample of a column weighs on average; 0: its values are no estimates. */
double comparison_sample_weight(const struct profile_column *c);

struct comparison_change {
	int64_t delta;	/* after less before */
	double ratio;	/* after by before; infinite from nothing, NAN of nothing */
	bool is_chance; /* two standard errors of so many samples are as much */
};

/* How a value of one column differs from one of another.  Sampling says nothing of how
 * two runs differ anyway: what is no chance here may still be one there. */
struct comparison_change comparison_of(const struct profile *p, size_t before_column,
				       uint64_t before, size_t after_column,
				       uint64_t after, double after_factor);

#endif
