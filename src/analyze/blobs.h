/* SPDX-License-Identifier: Apache-2.0
 *
 * blobs - the files kept inside a profile's recordings, found for the symbolizer.
 *
 * An image's own recording comes first.  Others may help out where the image is a file,
 * as that is the same in all of them; of kernels and JIT compilers each recording keeps
 * the names of its own samples.
 */
#ifndef DWELL_ANALYZE_BLOBS_H
#define DWELL_ANALYZE_BLOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/symbolizer.h"

/* The word for an enum blob_kind, as the symbolizer asks for it; "" unknown. */
const char *blobs_kind_name(uint8_t kind);
struct profile;

/* Once all recordings are open. */
void blobs_index(struct profile *p);
/* A sym_blob_fn; ctx is the profile. */
bool blobs_find(void *ctx, const struct sym_image_ref *image, const char *kind,
		const char *name, struct buf *ret);

#endif
