/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/rows_path.h"

#include "cmd/report_json.h"
#include "cmd/report_text.h"

void rows_path_text(struct buf *b, const struct report *r, const struct rows_path *path,
		    bool without_first, size_t limit)
{
	size_t from = without_first ? 1 : 0;

	for (size_t i = from; i < path->n_frames && i < limit + from; i++) {
		buf_puts(b, i > from ? " ← " : without_first ? "← " : "");
		report_text_safe(b, profile_function(r->profile, path->frames[i])->name);
	}
	if (path->n_frames > limit + from)
		buf_puts(b, " ← …");
	if (!path->n_frames)
		buf_puts(b, "[no stack]");
}

void rows_path_json(struct json *j, const struct report *r, const struct rows_path *path)
{
	json_key(j, "frames");
	json_array(j);
	for (size_t i = 0; i < path->n_frames; i++) {
		json_object(j);
		report_json_function(j, r, path->frames[i]);
		json_object_end(j);
	}
	json_array_end(j);
}
