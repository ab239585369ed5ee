/* SPDX-License-Identifier: Apache-2.0
 *
 * row_report - a report whose rows are one dimension: report, lines and pcs are this.
 */
#ifndef DWELL_CMD_ROW_REPORT_H
#define DWELL_CMD_ROW_REPORT_H

#include "analyze/dimension.h"
#include "cmd/option.h"

/* What such a report takes beside report_options.h. */
extern const struct option_spec row_report_options[];
/* Instead of report_options_sort, where rows may be instructions. */
extern const struct option_spec row_report_options_code[];

/* Returns an exit code, or a negative enum err_code. */
int row_report_run(struct options *o, const struct dimension *d, struct err *e);

#endif
