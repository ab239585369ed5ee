/* SPDX-License-Identifier: Apache-2.0
 *
 * report_value - the numbers of one column, all in one unit and aligned at the point.
 */
#ifndef DWELL_CMD_REPORT_VALUE_H
#define DWELL_CMD_REPORT_VALUE_H

#include <stdint.h>

#include "base/text.h"

struct report_scale {
	double divisor; /* 0: a plain count */
	const char *unit;
	int decimals;
};

/* The scale that suits the largest value of a column. */
struct report_scale report_value_scale(uint64_t largest, const char *unit);
/* All fill TEXT_MAX bytes.  A value of 0 is shown as "–", so that it is seen. */
char *report_value_text(char *s, uint64_t value, const struct report_scale *scale);
char *report_value_pct(char *s, uint64_t part, uint64_t whole);
/* Without decimals, for shares of what is itself a share. */
char *report_value_whole_pct(char *s, uint64_t part, uint64_t whole);

/* "+0.200 s", "–" for none. */
char *report_value_change(char *s, int64_t delta, const struct report_scale *scale);
/* "1.20×", "new" from nothing, "gone" to nothing, "–" of nothing (NAN). */
char *report_value_ratio(char *s, double ratio);

/* "5", "0.5%": from 0 to 100. */
must_use int report_value_parse_pct(const char *s, double *ret, struct err *e);

#endif
