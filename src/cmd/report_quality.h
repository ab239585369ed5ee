/* SPDX-License-Identifier: Apache-2.0
 *
 * report_quality - the foot of every report: what is not in the profile.
 */
#ifndef DWELL_CMD_REPORT_QUALITY_H
#define DWELL_CMD_REPORT_QUALITY_H

#include <stdio.h>

#include "cmd/report_profile.h"

/* Without what each recording cost and how its CPU time compares. */
void report_quality_print_gaps(const struct report *r, FILE *out);
void report_quality_print(const struct report *r, FILE *out);

#endif
