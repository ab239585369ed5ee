/* SPDX-License-Identifier: Apache-2.0
 *
 * grouping - a profile's metrics by one dimension: the rows of a report.
 */
#ifndef DWELL_ANALYZE_GROUPING_H
#define DWELL_ANALYZE_GROUPING_H

#include "analyze/dimension.h"
#include "analyze/metrics.h"

struct grouping;

/* Borrows the profile. */
must_use int grouping_make(const struct profile *p, const struct dimension *d,
			   struct grouping **ret, struct err *e);
/* Rows that one recording only can have, such as processes, are the same in several when
 * they are called so; what tells them apart inside one is left out of their names. */
must_use int grouping_make_shared(const struct profile *p, const struct dimension *d,
				  struct grouping **ret, struct err *e);
void grouping_free(struct grouping *g);
void grouping_freep(struct grouping **g);

size_t grouping_n_rows(const struct grouping *g);
/* Rows of samples and stacks have no callers: inclusive equals exclusive. */
const struct metrics *grouping_metrics(const struct grouping *g);
bool grouping_has_inclusive(const struct grouping *g);
/* Composed when asked for: only rows that are shown need it. */
void grouping_label(const struct grouping *g, size_t row, struct dimension_label *ret);
void grouping_label_fini(struct dimension_label *label);

#endif
