/* SPDX-License-Identifier: Apache-2.0
 *
 * pseudo_image - images of a recording that stand for no file: what is unknown, where a
 * stack was cut.
 */
#ifndef DWELL_COLLECT_PSEUDO_IMAGE_H
#define DWELL_COLLECT_PSEUDO_IMAGE_H

#include <stdint.h>

#include "store/writer.h"

/* The id, which *image keeps from the first use on; before it is MODEL_NONE. */
uint32_t pseudo_image(struct writer *w, uint32_t *image, enum image_kind kind,
		      const char *name);

#endif
