/* SPDX-License-Identifier: Apache-2.0
 *
 * record_next - what to type behind a recording.
 */
#ifndef DWELL_CMD_RECORD_NEXT_H
#define DWELL_CMD_RECORD_NEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Of single instructions, if that is what was asked for: why they stall, and those of the
 * function that has most time, for which the recording is read, unless that would take
 * long.  bytes: its size.  shown: the path as it is printed. */
void record_next_print(const char *path, const char *shown, uint64_t bytes, bool has_insn,
		       FILE *out);

#endif
