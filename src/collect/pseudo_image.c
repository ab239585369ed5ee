/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/pseudo_image.h"

uint32_t pseudo_image(struct writer *w, uint32_t *image, enum image_kind kind,
		      const char *name)
{
	if (*image == MODEL_NONE)
		*image = writer_image(
			w, &(struct model_image){ .path = writer_string(w, name),
						  .kind = (uint8_t)kind });
	return *image;
}
