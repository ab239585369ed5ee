/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/rows_path.h"

#include "analyze/names.h"
#include "base/text.h"
#include "cmd/report_json.h"

#define LEAST_NAME 12 /* columns: less of one says nothing */

static const char arrow[] = " ← ", more[] = " ← …";

/* Columns of a line of the note: numbers take less than a third. */
static size_t line_width(const struct report *r)
{
	return r->width - r->width / 3;
}

/* Where the first line ends a name may leave room unused. */
static size_t name_width(const struct report *r)
{
	return line_width(r) * 2 / 5;
}

static size_t room_of(const struct report *r, size_t n_paths)
{
	size_t room = (2 * line_width(r) - name_width(r)) / n_paths;

	return room > LEAST_NAME ? room : LEAST_NAME;
}

static size_t width_of(struct buf *b, size_t begin)
{
	return text_width(buf_str(b) + begin);
}

void rows_path_text(struct buf *b, const struct report *r, const struct rows_path *path,
		    const char *words, bool without_first, size_t limit, size_t n_paths)
{
	size_t from = without_first ? 1 : 0, i = from, begin = b->size;
	size_t room = room_of(r, n_paths) - text_width(more);
	char name[300];

	buf_puts(b, words);
	buf_puts(b, path->n_frames ? "" : "[no stack]");
	for (; i < path->n_frames && i < limit + from; i++) {
		size_t used = width_of(b, begin) + (i ? text_width(arrow) : 0);
		size_t left = room > used ? room - used : 0;

		if (i > from && left < LEAST_NAME)
			break;
		left = left < LEAST_NAME ? LEAST_NAME : left;
		buf_puts(b, !i ? "" : i > from ? arrow : arrow + 1);
		buf_puts(b, names_shorten(
				    name, sizeof(name),
				    profile_function(r->profile, path->frames[i])->name,
				    left < name_width(r) ? left : name_width(r)));
	}
	buf_puts(b, i < path->n_frames ? more : "");
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
