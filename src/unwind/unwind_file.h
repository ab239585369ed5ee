/* SPDX-License-Identifier: Apache-2.0
 *
 * unwind_file - the headers and sections of an ELF file that is walked through.
 *
 * Where a part is in memory already it is used in place, else it is read: what is given
 * out is borrowed from the source or from *ret_owned, which the caller frees.
 */
#ifndef DWELL_UNWIND_UNWIND_FILE_H
#define DWELL_UNWIND_UNWIND_FILE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

/* Where the bytes of the file come from. */
struct unwind_file_source {
	int fd; /* -1: bytes */
	const uint8_t *bytes;
	uint64_t size;
	const char *name;
};

struct unwind_file {
	Elf64_Ehdr eh;
	const Elf64_Phdr *ph;
	const Elf64_Shdr *sh; /* NULL without */
	const char *names;
	size_t n_ph, n_sh, names_size;
	void *owned[3];
};

/* Zero-initialise the file before. */
must_use int unwind_file_read(struct unwind_file *f, const struct unwind_file_source *src,
			      struct err *e);
void unwind_file_fini(struct unwind_file *f);
/* NULL when there is none of that name. */
const Elf64_Shdr *unwind_file_section(const struct unwind_file *f, const char *name);

/* size bytes at off: in place for memory, else read into *ret_owned.  NULL when they
 * are not there. */
const uint8_t *unwind_file_bytes(const struct unwind_file_source *src, uint64_t off,
				 uint64_t size, void **ret_owned);
/* The contents of a compressed section, always into *ret_owned. */
const uint8_t *unwind_file_inflated(const struct unwind_file_source *src,
				    const Elf64_Shdr *sh, uint64_t *ret_size,
				    void **ret_owned);

#endif
