/* SPDX-License-Identifier: Apache-2.0
 *
 * report_options - what every report command takes, in shared tables.
 */
#ifndef DWELL_CMD_REPORT_OPTIONS_H
#define DWELL_CMD_REPORT_OPTIONS_H

#include "cmd/option.h"

#define REPORT_OPTIONS_WORD(n) #n

/* --limit of what has no report_options_rows.  text_rows: a number, or a macro that is
 * one; what: "Print at most N rows". */
#define REPORT_OPTIONS_LIMIT(text_rows, what)                                            \
	{                                                                                \
		.name = "limit", .short_name = 'n', .kind = OPTION_U64, .arg = "N",      \
		.max = UINT32_MAX,                                                       \
		.default_text = REPORT_OPTIONS_WORD(text_rows) ", in JSON 0",            \
		.text = what "; 0: all"                                                  \
	}

extern const struct option_spec report_options_input[];	 /* what is read */
extern const struct option_spec report_options_ideal[];	 /* of ideal time */
extern const struct option_spec report_options_sort[];	 /* in what order */
extern const struct option_spec report_options_match[];	 /* of several recordings */
extern const struct option_spec report_options_rows[];	 /* which rows */
extern const struct option_spec report_options_output[]; /* --json, --width */

/* --limit; 0: all.  In a text so many, unless it is given. */
size_t report_options_limit(const struct options *o, size_t text_rows);
/* How many of n rows are shown. */
size_t report_options_shown(size_t limit, size_t n);

#endif
