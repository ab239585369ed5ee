/* SPDX-License-Identifier: Apache-2.0 */
#include "host/note.h"

#include <elf.h>
#include <string.h>

#define NOTE_HEADER_BYTES 12

static size_t padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

/* Behind the last one bytes may be missing. */
static void skip_padding(struct reader *r, size_t size)
{
	size_t n = padded(size) - size;

	reader_skip(r, n < reader_left(r) ? n : reader_left(r));
}

bool note_next(struct reader *r, struct note *ret)
{
	struct note n;

	if (reader_left(r) < NOTE_HEADER_BYTES)
		return false;
	n.name_size = reader_u32le(r);
	n.desc_size = reader_u32le(r);
	n.type = reader_u32le(r);
	n.name = reader_bytes(r, n.name_size);
	skip_padding(r, n.name_size);
	n.desc = reader_bytes(r, n.desc_size);
	if (r->bad)
		return false;
	skip_padding(r, n.desc_size);
	*ret = n;
	return true;
}

bool note_is(const struct note *n, const char *name, uint32_t type)
{
	size_t size = strlen(name) + 1;

	return n->type == type && n->name_size == size && !memcmp(n->name, name, size);
}

size_t note_find_build_id(const void *notes, size_t size, uint8_t *ret, size_t cap)
{
	struct reader r = reader_over(notes, size);
	struct note n;

	while (note_next(&r, &n)) {
		if (!note_is(&n, "GNU", NT_GNU_BUILD_ID))
			continue;
		if (n.desc_size == 0 || n.desc_size > cap)
			return 0;
		memcpy(ret, n.desc, n.desc_size);
		return n.desc_size;
	}
	return 0;
}
