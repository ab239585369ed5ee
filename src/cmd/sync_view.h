/* SPDX-License-Identifier: Apache-2.0
 *
 * sync_view - what 'dwell sync' shows, as text (sync_text.c) and as JSON (sync_json.c).
 */
#ifndef DWELL_CMD_SYNC_VIEW_H
#define DWELL_CMD_SYNC_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analyze/sync_rows.h"
#include "cmd/report_profile.h"

struct sync_view {
	struct report report;
	struct sync_rows sync;
	enum sync_rows_by by;
	const char *title; /* of a row: "Lock" */
	size_t *order;	   /* of rows, the first to be shown first */
	size_t limit;	   /* rows of each table; 0: all */
	bool has_histogram;
};

void sync_text_print(const struct sync_view *v, FILE *out);
void sync_json_print(const struct sync_view *v, FILE *out);

#endif
