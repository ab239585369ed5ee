/* SPDX-License-Identifier: Apache-2.0
 *
 * ideal - the time that exactly counted instructions would take on a machine where
 * nothing is missing: caches, foreseen branches.
 *
 * A column beside the counts, made by a machine model when the recording is read.
 */
#ifndef DWELL_ANALYZE_IDEAL_H
#define DWELL_ANALYZE_IDEAL_H

#include "analyze/profile_data.h"

#define IDEAL_NAME "ideal-time"

/* Can the recording be shown with such a column? */
bool ideal_is_possible(const struct recording *r);
/* Puts the column before that of the counts, if it is asked for. */
void ideal_add_column(struct profile *p, uint32_t source,
		      const struct profile_options *o);
bool ideal_is_shown(const struct input *s);
/* An error where a model or a clock is given and no source has the column. */
must_use int ideal_check_options(const struct profile *p, const struct profile_options *o,
				 struct err *e);
/* Fills the source's factors; needs its frames. */
must_use int ideal_measure(struct profile *p, uint32_t source,
			   const struct profile_options *o, struct err *e);

#endif
