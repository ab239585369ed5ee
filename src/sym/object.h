/* SPDX-License-Identifier: Apache-2.0
 *
 * object - an ELF file: segments, sections, build-id, and the bytes behind them.
 *
 * 32 and 64 bit, little endian, untrusted: every offset is checked against the size
 * of the file.  Bytes are read, never mapped, so a file that shrinks underneath gives
 * a short read and not a signal.  Section contents are loaded on first use,
 * decompressed when they are compressed, and live as long as the object.  One thread,
 * except that contents once loaded may be read by several.
 */
#ifndef DWELL_SYM_OBJECT_H
#define DWELL_SYM_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"

#define OBJECT_BUILD_ID_MAX 64

struct object;

struct object_bytes {
	const uint8_t *data;
	size_t size;
};

struct object_segment {
	uint64_t offset, file_size, address, memory_size;
	bool is_load, is_executable, is_note;
};

struct object_section {
	const char *name;
	uint32_t type, link, info;
	uint64_t flags, address, offset, size, entry_size;
};

must_use int object_open(const char *path, struct object **ret, struct err *e);
/* Takes the buffer's bytes over (the buffer becomes empty). */
must_use int object_over(struct buf *bytes, const char *name, struct object **ret,
			 struct err *e);
void object_free(struct object *o);
void object_freep(struct object **o);

const char *object_path(const struct object *o);
uint64_t object_size(const struct object *o);
/* When the file was last written; 0 when it is in memory. */
uint64_t object_mtime_s(const struct object *o); /* of the file */
bool object_is_64(const struct object *o);
unsigned object_machine(const struct object *o); /* EM_… */
struct object_bytes object_build_id(const struct object *o);

size_t object_n_segments(const struct object *o);
const struct object_segment *object_segment(const struct object *o, size_t i);
size_t object_n_sections(const struct object *o);
const struct object_section *object_section(const struct object *o, size_t i);
/* The first section of that name, or NULL; ".debug_x" also finds ".zdebug_x". */
const struct object_section *object_find(const struct object *o, const char *name);
bool object_section_is_code(const struct object_section *s);

/* Nothing when the section is absent (NULL), has no bytes or is damaged. */
struct object_bytes object_contents(struct object *o, const struct object_section *s);
struct object_bytes object_named(struct object *o, const char *name);

/* File offset to link-time address by the loadable segments. */
bool object_to_address(const struct object *o, uint64_t offset, uint64_t *ret);
/* And the other way round, of what the file has. */
bool object_to_offset(const struct object *o, uint64_t address, uint64_t *ret);
/* Appends up to size bytes of memory at a link-time address; how many there were. */
size_t object_read(struct object *o, uint64_t address, size_t size, struct buf *ret);
/* Where a program begins; false when it is a library, whose entry means nothing. */
bool object_entry(struct object *o, uint64_t *ret);
/* Lowest address of code; anything the debug information places below was discarded. */
uint64_t object_code_start(const struct object *o);

#endif
