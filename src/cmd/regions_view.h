/* SPDX-License-Identifier: Apache-2.0
 *
 * regions_view - what 'dwell regions' shows, as text (regions_text.c) and as JSON
 * (regions_json.c).
 */
#ifndef DWELL_CMD_REGIONS_VIEW_H
#define DWELL_CMD_REGIONS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analyze/region_history.h"
#include "analyze/region_rows.h"
#include "cmd/report_profile.h"

struct regions_view {
	struct report report;
	struct region_rows rows;
	struct region_history history;
	enum region_rows_by by;
	bool has_history; /* it is what is shown */
	size_t *order;	  /* of rows, each right behind what it is in */
	size_t n_shown;
};

void regions_text_print(const struct regions_view *v, FILE *out);
void regions_json_print(const struct regions_view *v, FILE *out);

#endif
