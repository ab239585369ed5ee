/* SPDX-License-Identifier: Apache-2.0
 *
 * unwind_image - the unwind tables of one ELF file, and the rows found in them.
 *
 * What offline.h declares of struct unwind_image, plus what the walker and the table
 * compiler need of it.  Rows are cached inside: one thread at a time.
 */
#ifndef DWELL_UNWIND_UNWIND_IMAGE_H
#define DWELL_UNWIND_UNWIND_IMAGE_H

#include "unwind/cfa_row.h"
#include "unwind/offline.h"

/* Where a rule was found; borrowed from the image. */
struct unwind_image_rules {
	const struct cfi_section *section;
	struct cfi_fde fde;
	struct cfa_rules rules;
};

enum unwind_arch unwind_image_arch(const struct unwind_image *image);
/* Has it any table?  If not, its code is presumed to keep frame pointers. */
bool unwind_image_has_table(const struct unwind_image *image);

/* Address in the file's own address space of a pc inside the mapping. */
bool unwind_image_vaddr(const struct unwind_image *image, const struct unwind_map *map,
			uint64_t pc, uint64_t *ret);

/* Where in the file the byte at a vaddr is. */
bool unwind_image_file_offset(const struct unwind_image *image, uint64_t vaddr,
			      uint64_t *ret);

/* The part of the segment with a vaddr that is in the file. */
bool unwind_image_segment(const struct unwind_image *image, uint64_t vaddr,
			  uint64_t *ret_start, uint64_t *ret_end);

/* The row at a vaddr, CFA_ROW_NONE when no table covers it.  The pointer is good until
 * the next call on this image. */
const struct cfa_row *unwind_image_row(struct unwind_image *image, uint64_t vaddr);

/* The same, interpreted afresh. */
bool unwind_image_find(const struct unwind_image *image, uint64_t vaddr,
		       struct unwind_image_rules *ret);

/* Is a vaddr, which no table covers, in a hole of the tables as no_table means it? */
bool unwind_image_is_hole(const struct unwind_image *image, uint64_t vaddr);

/* As many of n bytes (256 at most) of the file's code as its segment has; how many. */
unsigned unwind_image_bytes(struct unwind_image *image, uint64_t vaddr, uint8_t *to,
			    unsigned n);
/* Eight of them. */
bool unwind_image_code(struct unwind_image *image, uint64_t vaddr, uint64_t *ret);
/* The same of what is never written to, code or constants. */
bool unwind_image_constant(struct unwind_image *image, uint64_t vaddr, uint64_t *ret);

/* The tables, .eh_frame first; their FDEs in order of code address.  For compiling. */
size_t unwind_image_n_tables(const struct unwind_image *image);
size_t unwind_image_n_fdes(const struct unwind_image *image, size_t table);
const struct cfi_section *unwind_image_section(const struct unwind_image *image,
					       size_t table);

/* An FDE and the part of its code in which lookups find it rather than the next one. */
struct unwind_image_fde {
	struct cfi_fde fde;
	uint64_t start, end;
};

/* False when the record is malformed or nothing is left of its code. */
bool unwind_image_fde(const struct unwind_image *image, size_t table, size_t i,
		      struct unwind_image_fde *ret);

#endif
