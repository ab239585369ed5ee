/* SPDX-License-Identifier: Apache-2.0
 *
 * record_summary - the lines after a recording: what was taken, what was lost, and what
 * to do next.
 */
#ifndef DWELL_CMD_RECORD_SUMMARY_H
#define DWELL_CMD_RECORD_SUMMARY_H

#include <stdio.h>

#include "collect/session.h"

void record_summary_print(const struct session_settings *x,
			  const struct session_outcome *o, FILE *out);
/* Only that not all could be written, if it is so. */
void record_summary_print_failure(const struct session_outcome *o, FILE *out);

#endif
