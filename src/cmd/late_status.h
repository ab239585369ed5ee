/* SPDX-License-Identifier: Apache-2.0
 *
 * late_status - how late the daemon's samples are and where they pile up, for 'dwell ctl
 * status': lines "name=value" that the daemon answers, and their words.
 */
#ifndef DWELL_CMD_LATE_STATUS_H
#define DWELL_CMD_LATE_STATUS_H

#include <stdio.h>

#include "base/buf.h"
#include "collect/system_late.h"

void late_status_add(struct buf *b, const struct system_late *l);
/* Nothing where it was not measured. */
void late_status_print(const char *lines, FILE *out);

#endif
