/* SPDX-License-Identifier: Apache-2.0
 *
 * compare_rows - rows with what differs between two columns: of recordings (diff) or of
 * ideal and sampled time (report --compare ideal).
 */
#ifndef DWELL_CMD_COMPARE_ROWS_H
#define DWELL_CMD_COMPARE_ROWS_H

#include "cmd/row_view.h"

/* How they may be ordered, by change without asking. */
extern const struct report_rows compare_rows_shown;

/* Prints the rows of v->d with the changes of v->comparison; name: of the report. */
must_use int compare_rows_show(struct row_view *v, const char *name, struct err *e);

#endif
