/* SPDX-License-Identifier: Apache-2.0
 *
 * regions_view - the rows of 'dwell regions', and those of its history.
 */
#ifndef DWELL_CMD_REGIONS_VIEW_H
#define DWELL_CMD_REGIONS_VIEW_H

#include "analyze/region_history.h"
#include "analyze/region_rows.h"
#include "cmd/rows_view.h"

/* What of both kinds is. */
struct regions_view {
	struct region_rows regions;
	struct region_history history;
};

extern const struct rows_kind regions_view_kind;
extern const struct rows_kind regions_view_history;

void regions_view_fini(struct regions_view *r);

#endif
