/* SPDX-License-Identifier: Apache-2.0
 *
 * report_head - what was recorded, when and how: two to four lines and an empty one.
 */
#ifndef DWELL_CMD_REPORT_HEAD_H
#define DWELL_CMD_REPORT_HEAD_H

#include <stdio.h>

#include "cmd/report_profile.h"

void report_head_print(const struct report *r, FILE *out);
/* Without the columns. */
void report_head_subjects(const struct report *r, FILE *out);
/* Without the empty line, too, of one recording. */
void report_head_subject(const struct report *r, size_t source, FILE *out);
/* What chose samples, if anything did. */
void report_head_filter(const struct report *r, FILE *out);
/* What was asked for and is not there, and why, where that is such an experiment; else
 * NULL. */
const char *report_head_unrecorded(const struct report *r, const char *experiment);
/* "work  in server, /src/work.c:12" */
void report_head_function(const struct report *r, uint32_t function, FILE *out);

#endif
