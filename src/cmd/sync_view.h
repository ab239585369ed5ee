/* SPDX-License-Identifier: Apache-2.0
 *
 * sync_view - the rows of 'dwell sync': of is a struct sync_rows.
 */
#ifndef DWELL_CMD_SYNC_VIEW_H
#define DWELL_CMD_SYNC_VIEW_H

#include "cmd/rows_view.h"

extern const struct rows_kind sync_view;

#endif
