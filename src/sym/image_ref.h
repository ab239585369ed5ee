/* SPDX-License-Identifier: Apache-2.0
 *
 * image_ref - when two references are to the same image.
 *
 * Files are the same by build-id, else by path, size and time, whichever recordings
 * they are in.  Of all else a recording keeps the names of its own samples only, so a
 * kernel or the code of a JIT compiler is another one in each recording.
 */
#ifndef DWELL_SYM_IMAGE_REF_H
#define DWELL_SYM_IMAGE_REF_H

#include "sym/symbolizer.h"

bool image_ref_is_file(const struct sym_image_ref *ref);
/* The kernel or a module of it. */
bool image_ref_is_kernel(const struct sym_image_ref *ref);
bool image_ref_is_same(const struct sym_image_ref *a, const struct sym_image_ref *b);
/* Equal for the same image. */
uint64_t image_ref_hash(const struct sym_image_ref *ref);

#endif
