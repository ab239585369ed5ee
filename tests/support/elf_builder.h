/* SPDX-License-Identifier: Apache-2.0
 *
 * elf_builder - tiny ELF files with chosen sections, for tests.
 *
 * 64 bit, little endian; the whole file is one executable segment at address 0, so that
 * offsets are addresses.  Zero-initialise, add sections, write, release with
 * elf_builder_fini().  Names and data are borrowed until then.
 */
#ifndef DWELL_TESTS_ELF_BUILDER_H
#define DWELL_TESTS_ELF_BUILDER_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

struct elf_builder_section {
	const char *name;
	uint32_t type;
	uint64_t flags, address; /* 0: its offset in the file */
	uint32_t link;		 /* number of another section, from 1 */
	const void *data;
	size_t size;
};

struct elf_builder {
	uint16_t machine; /* 0: x86-64 */
	uint16_t type;	  /* 0: ET_DYN */
	uint64_t entry;
	VEC(struct elf_builder_section) sections;
	struct buf note;
};

void elf_builder_fini(struct elf_builder *b);
/* Its number, for links. */
uint32_t elf_builder_add(struct elf_builder *b, const struct elf_builder_section *s);
/* .note.gnu.build-id; one of a builder. */
void elf_builder_add_build_id(struct elf_builder *b, const void *id, size_t size);
void elf_builder_write(const struct elf_builder *b, struct buf *ret);

#endif
