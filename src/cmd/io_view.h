/* SPDX-License-Identifier: Apache-2.0
 *
 * io_view - what 'dwell io' shows, as text (io_text.c) and as JSON (io_json.c).
 */
#ifndef DWELL_CMD_IO_VIEW_H
#define DWELL_CMD_IO_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "analyze/io_rows.h"
#include "cmd/report_profile.h"

struct io_view {
	struct report report;
	struct io_rows io;
	enum io_rows_by by;
	const char *title; /* of a row: "File" */
	size_t *order;	   /* of rows, the first to be shown first */
	size_t n_shown;
	bool has_histogram; /* sizes and durations are shown */
};

void io_text_print(const struct io_view *v, FILE *out);
void io_json_print(const struct io_view *v, FILE *out);

#endif
