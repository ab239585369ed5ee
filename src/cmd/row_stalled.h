/* SPDX-License-Identifier: Apache-2.0
 *
 * row_stalled - which of a report's rows by instruction stalled most.
 *
 * No row stalled longer than was sampled there: those with most samples are looked at
 * first, until no other can be among those that are shown.
 */
#ifndef DWELL_CMD_ROW_STALLED_H
#define DWELL_CMD_ROW_STALLED_H

#include "cmd/row_code.h"
#include "cmd/row_view.h"

/* Sets the rows' values: how long they stalled, of the total.  Those that did not, or
 * were not looked at, are nothing, whatever else they have. */
must_use int row_stalled_weigh(const struct row_view *v, struct row_code *c,
			       uint64_t total, struct err *e);

#endif
