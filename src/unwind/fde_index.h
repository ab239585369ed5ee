/* SPDX-License-Identifier: Apache-2.0
 *
 * fde_index - the FDEs of a section in the order of the code they describe.
 *
 * The order is the file's own (.eh_frame_hdr) where that is sorted, else one is made.
 */
#ifndef DWELL_UNWIND_FDE_INDEX_H
#define DWELL_UNWIND_FDE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/cfi.h"
#include "unwind/eh_hdr.h"
#include "unwind/unwind_image.h"

struct fde_index_entry {
	uint64_t start;
	size_t off;
};

struct fde_index {
	struct cfi_section section;
	struct eh_hdr hdr;		 /* zero without */
	struct fde_index_entry *entries; /* NULL: hdr is good */
	size_t n;
	void *owned; /* the section's bytes, when they were read */
};

/* Section and hdr are set.  False when there is nothing in it. */
bool fde_index_prepare(struct fde_index *t);
void fde_index_fini(struct fde_index *t);

bool fde_index_find(const struct fde_index *t, uint64_t vaddr, struct cfi_fde *ret);
/* The i-th and the code that is left to it by the next one; false when that is none. */
bool fde_index_at(const struct fde_index *t, size_t i, struct unwind_image_fde *ret);
/* The part of a hole around vaddr, from *start to *end, that the section leaves. */
void fde_index_narrow_hole(const struct fde_index *t, uint64_t vaddr, uint64_t *start,
			   uint64_t *end);

#endif
