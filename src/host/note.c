/* SPDX-License-Identifier: Apache-2.0 */
#include "host/note.h"

#include <elf.h>
#include <string.h>

#include "base/reader.h"

static size_t padded(uint32_t n)
{
	return ((size_t)n + 3) & ~(size_t)3;
}

size_t note_find_build_id(const void *notes, size_t size, uint8_t *ret, size_t cap)
{
	struct reader r = reader_over(notes, size);

	while (reader_left(&r) >= 12) {
		uint32_t name_size = reader_u32le(&r), desc_size = reader_u32le(&r);
		uint32_t type = reader_u32le(&r);
		const uint8_t *name = reader_bytes(&r, padded(name_size));
		const uint8_t *desc = reader_bytes(&r, desc_size);

		if (r.bad)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == 4 &&
		    !memcmp(name, "GNU", 4)) {
			if (desc_size == 0 || desc_size > cap)
				return 0;
			memcpy(ret, desc, desc_size);
			return desc_size;
		}
		reader_skip(&r, padded(desc_size) - desc_size);
	}
	return 0;
}
