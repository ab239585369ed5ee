/* SPDX-License-Identifier: Apache-2.0
 *
 * callers_view - a function between its callers and its callees.
 */
#ifndef DWELL_CMD_CALLERS_VIEW_H
#define DWELL_CMD_CALLERS_VIEW_H

#include <stdio.h>

#include "analyze/metrics.h"
#include "base/json.h"
#include "cmd/report_profile.h"

/* The third key of --sort; what is attributed has no other order. */
#define CALLERS_VIEW_BY_NAME 2

struct callers_view {
	const struct report *r;
	uint32_t function;
	struct metrics_butterfly b;
	size_t n_events; /* that have room; 0: all, in JSON */
	size_t n_others; /* edges that have nothing of these */
};

void callers_view_init(struct callers_view *v, const struct report *r, uint32_t function);
void callers_view_fini(struct callers_view *v);

/* The table alone. */
void callers_view_print(struct callers_view *v, FILE *out);
/* Members of the function's object. */
void callers_view_json(const struct callers_view *v, struct json *j);

#endif
