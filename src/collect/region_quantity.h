/* SPDX-License-Identifier: Apache-2.0
 *
 * region_quantity - what passes in regions: "regions:time", "regions:cpu", or a counter.
 */
#ifndef DWELL_COLLECT_REGION_QUANTITY_H
#define DWELL_COLLECT_REGION_QUANTITY_H

#include <stdbool.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/experiment.h"
#include "wire/tracer_regions.h"

/* Behind the colon. */
must_use int region_quantity_find(const char *what, struct experiment_choice *ret,
				  struct err *e);
/* What programs are told of it. */
void region_quantity_tell(const struct experiment *x, struct wire_regions_control *ret);
/* Does it pass in a thread that waits? */
bool region_quantity_is_time(const struct experiment *x);

#endif
