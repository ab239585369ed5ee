/* SPDX-License-Identifier: Apache-2.0
 *
 * report_text - lines of a report that fit its width and are safe to print.
 */
#ifndef DWELL_CMD_REPORT_TEXT_H
#define DWELL_CMD_REPORT_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "cmd/report_profile.h"

/* Instead of rows, when there are none. */
void report_text_nothing(const struct report *r, FILE *out);
/* Below rows, how many were left out, if any were. */
void report_text_more(size_t n, FILE *out);
/* What begins or ends bold text on a terminal with colours. */
const char *report_text_bold(bool on);
/* Text from a recording. */
void report_text_safe(struct buf *b, const char *s);
/* The text wrapped at spaces, from that column on; the first line has begun there.
 * Clears it. */
void report_text_indented(const struct report *r, unsigned indent, struct buf *text,
			  FILE *out);
/* The text in one line, cut at the width; clears it. */
void report_text_line(FILE *out, const struct report *r, const char *indent,
		      struct buf *b);
/* The text under its label, wrapped at spaces below itself; clears it. */
void report_text_labelled(const struct report *r, const char *label, struct buf *text,
			  FILE *out);
/* The same without a label, two columns from the left. */
void report_text_wrapped(const struct report *r, struct buf *text, FILE *out);
/* The same from the first column on. */
void report_text_paragraph(const struct report *r, struct buf *text, FILE *out);
/* And behind an empty line. */
void report_text_apart(const struct report *r, struct buf *text, FILE *out);
/* A line of what to try next; each line is a command without "dwell ". */
void report_text_next(const struct report *r, const char *const *lines, size_t n,
		      FILE *out);
/* The same, of a function: lines that end in a blank get its name. */
void report_text_next_of(const struct report *r, uint32_t function,
			 const char *const *lines, size_t n, FILE *out);
/* A name in quotes when a shell needs them. */
void report_text_quoted(struct buf *to, const char *name);
/* A recording as a word of a command, with a blank before it. */
void report_text_recording(const struct report *r, size_t source, struct buf *ret);
/* Of an event: "12.3 s of cpu-time", "302 allocations", "1 allocation". */
void report_text_amount(struct buf *b, const struct profile_column *c, uint64_t value);
/* The image that a function is in; "" of what is none: a lock or a file is called so
 * itself. */
const char *report_text_image(const struct profile_function *f);
/* What else a function's name matched, and an empty line; nothing of "". */
void report_text_others(const struct report *r, const char *others, FILE *out);
/* "[2] " when there are several recordings. */
void report_text_source(const struct report *r, size_t source, struct buf *ret);
/* "[2] cpu-time" when columns of several recordings are side by side. */
void report_text_column(const struct report *r, size_t column, struct buf *ret);

#endif
