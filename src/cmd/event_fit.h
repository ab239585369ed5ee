/* SPDX-License-Identifier: Apache-2.0
 *
 * event_fit - how many of a report's events have room beside names.
 */
#ifndef DWELL_CMD_EVENT_FIT_H
#define DWELL_CMD_EVENT_FIT_H

#include <stddef.h>
#include <stdio.h>

#include "cmd/report_profile.h"
#include "cmd/report_table.h"

/* The titles and the widest numbers of a view's first n events. */
typedef struct report_table *event_fit_fn(void *view, size_t n);

/* As many as leave `least` columns to what is no number, and one at least. */
size_t event_fit(const struct report *r, size_t least, event_fit_fn *make, void *view);
/* That it is not all of them, and which are left out; that so many rows are left out as
 * they have only these.  Lines, or nothing. */
void event_fit_print_rest(const struct report *r, size_t n, size_t n_rows, FILE *out);
/* The same of n events, whose names are separated by ", ". */
void event_fit_print_names(const struct report *r, size_t n, const char *names,
			   size_t n_rows, FILE *out);

#endif
