/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was noted of an image, any bytes: refused with a text, or all of it comes back
 * after writing.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collect/image_note.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true)
{
	if (!is_true)
		abort();
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	own(buf_fini) struct buf note = { 0 };
	struct image_file f, again;
	struct err e = { 0 };

	if (image_note_decode(data, size, &f, &e) < 0) {
		check(e.text[0]);
		return 0;
	}
	check(f.name && f.fd == -1 && f.build_id_size <= MODEL_BUILD_ID_MAX);
	/* Numbers may have been written longer than they have to be. */
	if (image_note_encode(&f, &note)) {
		check(image_note_decode(note.data, note.size, &again, NULL) == 0);
		check(is_same(f.name, again.name) && is_same(f.path, again.path) &&
		      is_same(f.host_path, again.host_path));
		check(f.executable.entry_offset == again.executable.entry_offset &&
		      f.executable.mtime_s == again.executable.mtime_s &&
		      f.build_id_size == again.build_id_size &&
		      memcmp(f.build_id, again.build_id, f.build_id_size) == 0);
		image_file_fini(&again);
	}
	image_file_fini(&f);
	return 0;
}
