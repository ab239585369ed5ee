/* SPDX-License-Identifier: Apache-2.0
 *
 * annotate_view - one function's source and code with the metrics beside them.
 */
#ifndef DWELL_CMD_ANNOTATE_VIEW_H
#define DWELL_CMD_ANNOTATE_VIEW_H

#include <stdbool.h>

#include "analyze/listing.h"
#include "analyze/metrics.h"
#include "base/json.h"
#include "cmd/compare_cells.h"
#include "cmd/report_profile.h"
#include "cmd/report_table.h"

struct annotate_view {
	const struct report *r;
	uint32_t function;
	struct listing listing;
	struct metrics_butterfly totals;   /* the function's own sums */
	const struct compare_cells *cells; /* what changed; NULL: values are shown */
	size_t n_events;		   /* that have room; all are in JSON */
	bool all;			   /* also what has no weight near it */
	bool is_intel;
};

void annotate_view_init(struct annotate_view *v, const struct report *r,
			uint32_t function);
void annotate_view_fini(struct annotate_view *v);

/* A table with a number column "at" (line or address) and a text. */
struct report_table *annotate_view_table(const struct annotate_view *v, const char *at,
					 const char *text);
/* NULL values: a row without numbers. */
void annotate_view_row(const struct annotate_view *v, struct report_table *t,
		       const uint64_t *exclusive, const uint64_t *inclusive,
		       const char *at, const char *text);
/* The row that stands for n hidden ones. */
void annotate_view_gap(const struct annotate_view *v, struct report_table *t, size_t n);

#endif
