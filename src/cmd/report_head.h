/* SPDX-License-Identifier: Apache-2.0
 *
 * report_head - what was recorded, when and how: two to four lines and an empty one.
 */
#ifndef DWELL_CMD_REPORT_HEAD_H
#define DWELL_CMD_REPORT_HEAD_H

#include <stdio.h>

#include "cmd/report_profile.h"

void report_head_print(const struct report *r, FILE *out);

#endif
