/* SPDX-License-Identifier: Apache-2.0
 *
 * report_unfollowed - the programs that ran and were not observed, and why.
 */
#ifndef DWELL_CMD_REPORT_UNFOLLOWED_H
#define DWELL_CMD_REPORT_UNFOLLOWED_H

#include <stdio.h>

#include "base/json.h"
#include "store/recording.h"

struct report;

/* A line for each reason; none where all were observed. */
void report_unfollowed_print(const struct report *r, const struct recording *rec,
			     FILE *out);
/* A member of the object that is being written, if there is any. */
void report_unfollowed_json(struct json *j, const struct recording *rec);

#endif
