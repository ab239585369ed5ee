/* SPDX-License-Identifier: Apache-2.0
 *
 * rows_path - the stacks that belong to a row, as text and as JSON.
 */
#ifndef DWELL_CMD_ROWS_PATH_H
#define DWELL_CMD_ROWS_PATH_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "cmd/report_profile.h"

/* Functions, the innermost first; all are borrowed. */
struct rows_path {
	const uint32_t *frames;
	size_t n_frames;
};

/* "f ← g ← h", at most so many, behind words; without the first where it is said already.
 * Of a note below a row, whose n_paths are cut so that it takes two lines. */
void rows_path_text(struct buf *b, const struct report *r, const struct rows_path *path,
		    const char *words, bool without_first, size_t limit, size_t n_paths);
/* "frames": [ … ] */
void rows_path_json(struct json *j, const struct report *r, const struct rows_path *path);

#endif
