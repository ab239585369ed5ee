/* SPDX-License-Identifier: Apache-2.0
 *
 * report_json - the frame that every report's JSON has.
 *
 *	{"report": …, "sources": […], "events": […], "total": {EVENT: n},
 *	 "rows": [ … ], "waits": [ … ], "under": [ … ], "quality": { … }}
 *
 * "waits" is there when an event is of threads that wait: the innermost call outside the
 * kernel, who called it, and how long.  "under" when functions were chosen when
 *recording: their inclusive values, exactly and as calls share them.
 *
 * Values are in the event's unit.  An event is called by its name, and by NAME@N where
 * several recordings have one of that name (N counts the sources from 1).
 */
#ifndef DWELL_CMD_REPORT_JSON_H
#define DWELL_CMD_REPORT_JSON_H

#include "base/json.h"
#include "cmd/report_profile.h"

/* Up to and including the opening of "rows". */
void report_json_begin(struct json *j, const struct report *r, const char *name,
		       FILE *out);
/* With other totals than the profile's, by its columns; NULL: with those. */
void report_json_begin_with(struct json *j, const struct report *r, const char *name,
			    const uint64_t *totals, FILE *out);
/* Closes "rows" and the report. */
void report_json_end(struct json *j, const struct report *r);
/* The key EVENT of a column. */
void report_json_event(struct json *j, const struct report *r, size_t column);
/* "key": {EVENT: n, …}; the values of all columns. */
void report_json_values(struct json *j, const struct report *r, const char *key,
			const uint64_t *values);
/* "name", "image" and so on of a function. */
void report_json_function(struct json *j, const struct report *r, uint32_t function);

#endif
