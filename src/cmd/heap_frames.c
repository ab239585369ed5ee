/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/heap_frames.h"

#include "analyze/names.h"
#include "base/buf.h"
#include "base/text.h"
#include "cmd/report_json.h"
#include "cmd/report_text.h"

static void put_frame(const struct report *r, const struct profile_frame *f, FILE *out)
{
	const struct profile_function *function =
		profile_function(r->profile, f->function);
	own(buf_fini) struct buf b = { 0 };
	char name[600];

	buf_puts(&b, f->is_inlined ? "↳ " : "");
	buf_puts(&b, names_shorten(name, sizeof(name), function->label, r->width / 2));
	buf_puts(&b, "  ");
	if (f->file && f->line)
		buf_printf(&b, "%s:%u",
			   text_printable(name, sizeof(name), names_base(f->file)),
			   f->line);
	else
		report_text_safe(&b, function->image);
	report_text_line(out, r, "    ", &b);
}

void heap_frames_print(const struct report *r, const struct profile_frame *frames,
		       size_t n, size_t depth, FILE *out)
{
	size_t n_shown = depth && n > depth ? depth : n;

	for (size_t i = 0; i < n_shown; i++)
		put_frame(r, &frames[i], out);
	if (!n)
		fputs("    no stack could be taken\n", out);
	if (n_shown < n)
		fprintf(out, "    … %zu more\n", n - n_shown);
}

void heap_frames_json(const struct report *r, struct json *j,
		      const struct profile_frame *frames, size_t n)
{
	json_key(j, "frames");
	json_array(j);
	for (size_t i = 0; i < n; i++) {
		const struct profile_frame *f = &frames[i];

		json_object(j);
		report_json_function(j, r, f->function);
		if (f->file)
			json_key_str(j, "file", f->file);
		if (f->line)
			json_key_u64(j, "line", f->line);
		json_key_bool(j, "inlined", f->is_inlined);
		json_object_end(j);
	}
	json_array_end(j);
}
