/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_frames - the callers of a place that allocates, innermost first.
 */
#ifndef DWELL_CMD_HEAP_FRAMES_H
#define DWELL_CMD_HEAP_FRAMES_H

#include <stddef.h>
#include <stdio.h>

#include "base/json.h"
#include "cmd/report_profile.h"

/* At most depth of them, 0: all. */
void heap_frames_print(const struct report *r, const struct profile_frame *frames,
		       size_t n, size_t depth, FILE *out);
/* "frames": […]. */
void heap_frames_json(const struct report *r, struct json *j,
		      const struct profile_frame *frames, size_t n);

#endif
