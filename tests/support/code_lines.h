/* SPDX-License-Identifier: Apache-2.0
 *
 * code_lines - what the text of a recording (recording_builder.h) says of code that was
 * executed: blocks and edges that were counted, directions of branches, accesses of
 * memory and anchors.
 */
#ifndef DWELL_SUPPORT_CODE_LINES_H
#define DWELL_SUPPORT_CODE_LINES_H

#include "recording_builder_data.h"

/* Ended by one without a name. */
extern const struct recording_builder_line code_lines[];

#endif
