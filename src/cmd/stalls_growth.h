/* SPDX-License-Identifier: Apache-2.0
 *
 * stalls_growth - what grew from one run to another, if both did the same work: of runs
 * of which it is not known how often instructions were executed.
 */
#ifndef DWELL_CMD_STALLS_GROWTH_H
#define DWELL_CMD_STALLS_GROWTH_H

#include <stdio.h>

#include "analyze/stall_growth.h"
#include "base/json.h"
#include "cmd/stalls_view.h"

struct stalls_growth {
	struct stall_growth sum; /* of functions that both have */
	size_t n;		 /* of these */
	double elsewhere; /* cycles that grew in others, or that there was no time for */
	double first;	  /* cycles of the first run, of several the mean */
};

/* Looks at the functions of both views, whose profiles are borrowed, for as long as the
 * choice allows. */
must_use int stalls_growth_init(struct stalls_growth *ret,
				const struct stalls_view *first,
				const struct stalls_view *second,
				const struct stalls_choice *choice, struct err *e);
void stalls_growth_fini(struct stalls_growth *g);

void stalls_growth_print(const struct stalls_growth *g, const struct stalls_view *second,
			 FILE *out);
/* As a key of the object that is open. */
void stalls_growth_json(const struct stalls_growth *g, const struct stalls_view *second,
			struct json *j);

#endif
