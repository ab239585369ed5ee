/* SPDX-License-Identifier: Apache-2.0
 *
 * blobs - the files kept inside a profile's recordings, found for the symbolizer.
 */
#ifndef DWELL_ANALYZE_BLOBS_H
#define DWELL_ANALYZE_BLOBS_H

#include <stdbool.h>
#include <stdint.h>

#include "sym/symbolizer.h"

/* The word for an enum blob_kind, as the symbolizer asks for it; "" unknown. */
const char *blobs_kind_name(uint8_t kind);
/* A sym_blob_fn; ctx is the profile. */
bool blobs_find(void *ctx, const struct sym_image_ref *image, const char *kind,
		const char *name, struct buf *ret);

#endif
