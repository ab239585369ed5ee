/* SPDX-License-Identifier: Apache-2.0
 *
 * report_quality - the foot of every report: what is not in the profile.
 */
#ifndef DWELL_CMD_REPORT_QUALITY_H
#define DWELL_CMD_REPORT_QUALITY_H

#include <stdio.h>

#include "cmd/report_profile.h"

void report_quality_print(const struct report *r, FILE *out);

#endif
