/* SPDX-License-Identifier: Apache-2.0
 *
 * derived - columns that are the sum of others: a thread's wall time of how it went.
 *
 * Such a whole stands before its parts and is a column like any other.  Shown without
 * them it takes their samples itself; shown with them it is added up afterwards.
 */
#ifndef DWELL_ANALYZE_DERIVED_H
#define DWELL_ANALYZE_DERIVED_H

#include "analyze/profile_data.h"

/* The name of the i-th whole that a recording can be shown with, or NULL. */
const char *derived_name(const struct recording *r, size_t i);
/* Whether an event must be a column because its whole is one beside another part. */
bool derived_needs_event(const struct recording *r, const struct model_event *ev,
			 const struct profile_options *o);
/* Puts the wholes that are asked for among the columns made of a source's events. */
void derived_add_columns(struct profile *p, uint32_t source,
			 const struct profile_options *o);
/* The wholes of a source's stacks, after its samples were summed. */
void derived_sum_stacks(struct profile *p, struct input *s);
/* The wholes of rows that have one value for each column of the profile. */
void derived_sum_rows(const struct profile *p, uint64_t *values, size_t n_rows);

#endif
