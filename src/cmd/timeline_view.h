/* SPDX-License-Identifier: Apache-2.0
 *
 * timeline_view - a recording's timeline as text and as JSON.
 */
#ifndef DWELL_CMD_TIMELINE_VIEW_H
#define DWELL_CMD_TIMELINE_VIEW_H

#include <stdio.h>

#include "analyze/chronicle.h"
#include "analyze/chronicle_values.h"
#include "base/json.h"
#include "cmd/report_profile.h"

struct timeline_view {
	const struct report *report;
	size_t source;
	size_t n_shown; /* threads */
	struct chronicle chronicle;
	struct chronicle_values values;
};

/* So many cells fit into the width, beside what rows are called. */
size_t timeline_view_cells(unsigned width);
void timeline_view_text(const struct timeline_view *v, FILE *out);
void timeline_view_json(const struct timeline_view *v, struct json *j);

#endif
