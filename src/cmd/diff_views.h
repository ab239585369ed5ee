/* SPDX-License-Identifier: Apache-2.0
 *
 * diff_views - what changed from one recording to another: callers and callees of a
 * function, calling contexts, and the lines of a function.
 *
 * Each prints a whole report, as text or JSON.
 */
#ifndef DWELL_CMD_DIFF_VIEWS_H
#define DWELL_CMD_DIFF_VIEWS_H

#include "cmd/compare_cells.h"

/* others: what else the function's name matched, or "". */
void diff_views_callers(const struct compare_cells *c, uint32_t function,
			const char *others);
void diff_views_tree(const struct compare_cells *c, double min_pct);
void diff_views_annotate(const struct compare_cells *c, uint32_t function,
			 const char *others);

#endif
