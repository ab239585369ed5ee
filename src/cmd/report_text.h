/* SPDX-License-Identifier: Apache-2.0
 *
 * report_text - the head and the foot of every report.
 */
#ifndef DWELL_CMD_REPORT_TEXT_H
#define DWELL_CMD_REPORT_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "base/buf.h"
#include "cmd/report_profile.h"

/* What was recorded, when and how: two to four lines and an empty one. */
void report_text_head(const struct report *r, FILE *out);
/* What is not in the profile, always. */
void report_text_quality(const struct report *r, FILE *out);
/* A line of what to try next; each line is a command without "dwell ". */
void report_text_next(const char *const *lines, size_t n, FILE *out);
/* A name in quotes when a shell needs them. */
void report_text_quoted(struct buf *to, const char *name);
/* "[2] cpu-time" when columns of several recordings are side by side. */
void report_text_column(const struct report *r, size_t column, struct buf *ret);

#endif
