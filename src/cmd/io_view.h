/* SPDX-License-Identifier: Apache-2.0
 *
 * io_view - the rows of 'dwell io': of is a struct io_rows.
 */
#ifndef DWELL_CMD_IO_VIEW_H
#define DWELL_CMD_IO_VIEW_H

#include "cmd/rows_view.h"

extern const struct rows_kind io_view;

#endif
