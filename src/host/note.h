/* SPDX-License-Identifier: Apache-2.0
 *
 * note - ELF notes one by one, and the build-id among them.
 */
#ifndef DWELL_HOST_NOTE_H
#define DWELL_HOST_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"

/* Borrowed of the reader's bytes. */
struct note {
	uint32_t type;
	const uint8_t *name, *desc;
	size_t name_size, desc_size; /* the name's with its terminator */
};

/* The next one; false: there is none, or r->bad. */
bool note_next(struct reader *r, struct note *ret);
/* Whose type this is. */
bool note_is(const struct note *n, const char *name, uint32_t type);
/* Returns its size, at most cap; 0 when there is none or it does not fit. */
size_t note_find_build_id(const void *notes, size_t size, uint8_t *ret, size_t cap);

#endif
