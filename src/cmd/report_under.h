/* SPDX-License-Identifier: Apache-2.0
 *
 * report_under - the exact inclusive values of functions that were chosen when recording,
 * beside those that calls share.
 */
#ifndef DWELL_CMD_REPORT_UNDER_H
#define DWELL_CMD_REPORT_UNDER_H

#include <stdio.h>

#include "base/json.h"
#include "cmd/report_profile.h"

/* Nothing where there are none. */
void report_under_print(const struct report *r, FILE *out);
void report_under_json(struct json *j, const struct report *r);

#endif
