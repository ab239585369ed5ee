/* SPDX-License-Identifier: Apache-2.0
 *
 * fpe_view - the rows of 'dwell fpe': of is a struct fpe_rows.
 */
#ifndef DWELL_CMD_FPE_VIEW_H
#define DWELL_CMD_FPE_VIEW_H

#include "cmd/rows_view.h"

extern const struct rows_kind fpe_view;

struct fpe_rows;
struct fpe_rows *fpe_view_new(void);
void fpe_view_freep(struct fpe_rows **f);

#endif
