/* SPDX-License-Identifier: Apache-2.0
 *
 * text - numbers and foreign names as people read them, and back.
 *
 * The writers fill the caller's buffer (TEXT_MAX is enough for every number) and
 * return it.
 */
#ifndef DWELL_BASE_TEXT_H
#define DWELL_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

#define TEXT_MAX 40

char *text_duration(char *s, uint64_t ns); /* 1.43 s, 12.5 ms, 250 us */
char *text_size(char *s, uint64_t bytes);  /* 312 B, 4.2 KB, 1.1 GB */
char *text_count(char *s, uint64_t n);	   /* 1,234,567 */
/* "1,234 samples" of "samples", and "1 sample". */
char *text_number(char *s, uint64_t n, const char *plural);
char *text_pct(char *s, double part, double whole); /* 12.3 %, 0.01 % */
/* A value of an event in its unit ("ns", "bytes", else a count). */
char *text_value(char *s, uint64_t value, const char *unit);

/* "500us", "10ms", "1s", "1.5m", "2h"; a bare number is in default_unit ("ms"). */
must_use int text_parse_duration(const char *s, const char *default_unit,
				 uint64_t *ret_ns, struct err *e);
/* "64K", "10MB", "1G"; powers of 1024; a bare number is bytes. */
must_use int text_parse_size(const char *s, uint64_t *ret_bytes, struct err *e);
must_use int text_parse_u64(const char *s, uint64_t *ret, struct err *e); /* also 0x… */

/* Safe to show: control characters and bytes that are not UTF-8 become \xNN.
 * The result is at most cap - 1 bytes, cut at a character. */
char *text_printable(char *dst, size_t cap, const char *src);
/* "sample" of "samples", "entry" of "entries"; what is no plural stays.  At most cap - 1
 * bytes. */
char *text_singular(char *dst, size_t cap, const char *plural);
/* Columns that a UTF-8 text takes on a terminal. */
size_t text_width(const char *s);
/* Edit distance, for "did you mean". */
size_t text_distance(const char *a, const char *b);
bool text_starts(const char *s, const char *prefix);
bool text_ends(const char *s, const char *suffix);

#endif
