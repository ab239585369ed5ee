/* SPDX-License-Identifier: Apache-2.0
 *
 * prevalence - whose each function's time is: the program that most of it was spent in.
 */
#ifndef DWELL_ANALYZE_PREVALENCE_H
#define DWELL_ANALYZE_PREVALENCE_H

#include "analyze/profile.h"

/* Of what was spent in the function itself. */
struct prevalence {
	const char *command; /* borrowed from the profile; NULL: nothing was */
	uint64_t weight;     /* of it; of several that weigh the same the first */
	uint32_t n_others;   /* commands that have less */
};

/* By function, of one column; release with free(). */
must_use int prevalence_find(const struct profile *p, size_t column,
			     struct prevalence **ret, struct err *e);

#endif
