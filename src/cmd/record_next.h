/* SPDX-License-Identifier: Apache-2.0
 *
 * record_next - what to type behind a recording.
 */
#ifndef DWELL_CMD_RECORD_NEXT_H
#define DWELL_CMD_RECORD_NEXT_H

#include <stdio.h>

#include "collect/session.h"

/* The report, and those that an experiment has of its own.  Of single instructions, if
 * that is what was asked for: why they stall, and those of the function that has most
 * time, for which the recording is read, unless that would take long.  shown: the path as
 * it is printed. */
void record_next_print(const struct session_settings *x, const struct session_outcome *o,
		       const char *shown, FILE *out);

#endif
