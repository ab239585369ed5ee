/* SPDX-License-Identifier: Apache-2.0
 *
 * report_matches - what of several recordings was taken for the same, and why.
 */
#ifndef DWELL_CMD_REPORT_MATCHES_H
#define DWELL_CMD_REPORT_MATCHES_H

#include <stdio.h>

#include "base/json.h"
#include "cmd/report_profile.h"

/* Lines for the foot of a report: none when names alone matched. */
void report_matches_print(const struct report *r, FILE *out);
/* "matches": […], within the report's frame. */
void report_matches_json(struct json *j, const struct report *r);

#endif
