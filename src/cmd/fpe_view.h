/* SPDX-License-Identifier: Apache-2.0
 *
 * fpe_view - the rows of 'dwell fpe', shown as text (fpe_text.c) and as JSON
 * (fpe_json.c).
 */
#ifndef DWELL_CMD_FPE_VIEW_H
#define DWELL_CMD_FPE_VIEW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/grouping.h"
#include "base/vec.h"
#include "cmd/report_profile.h"

/* Of the experiment: all exceptions, then their types. */
struct fpe_event {
	const char *name, *title, *text;
};

#define FPE_VIEW_EVENTS 8
extern const struct fpe_event fpe_view_events[FPE_VIEW_EVENTS];

struct fpe_row {
	struct dimension_label label;
	const char *name; /* the label's */
	uint64_t values[FPE_VIEW_EVENTS];
};

struct fpe_view {
	struct report report;
	const char *by;	   /* name of a dimension, or "type" */
	const char *title; /* of a row */
	unsigned sort;	   /* event */
	size_t n_shown;
	VEC(struct fpe_row) rows; /* the first to be shown first */
	uint64_t total[FPE_VIEW_EVENTS];
};

/* The report is open, `by` and `sort` are set. */
must_use int fpe_view_load(struct fpe_view *v, struct err *e);
void fpe_view_fini(struct fpe_view *v);

void fpe_text_print(const struct fpe_view *v, FILE *out);
void fpe_json_print(const struct fpe_view *v, FILE *out);

#endif
