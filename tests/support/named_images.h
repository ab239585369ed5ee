/* SPDX-License-Identifier: Apache-2.0
 *
 * named_images - images of a test recording, and stacks from the text of their frames.
 *
 * Functions are made as they are named; where they lie is kept in the recording as a
 * perf map (or kallsyms), so that readers find the names again.
 */
#ifndef DWELL_SUPPORT_NAMED_IMAGES_H
#define DWELL_SUPPORT_NAMED_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "store/writer.h"

struct named_function {
	char *name;
	uint64_t address, size;
};

struct named_image {
	char *name;
	uint32_t id, pid;
	uint8_t kind; /* enum image_kind */
	VEC(struct named_function) functions;
};

struct named_images {
	struct writer *writer; /* borrowed */
	VEC(struct named_image) all;
};

void named_images_fini(struct named_images *l);
/* Borrowed until the next image is made. */
struct named_image *named_images_add(struct named_images *l, const char *name,
				     const struct model_image *m);
struct named_image *named_images_find(struct named_images *l, const char *name);
void named_images_add_function(struct named_image *m, const char *name, uint64_t address,
			       uint64_t size);
/* The stack of "outer;inner" as recording_builder.h explains frames. */
uint32_t named_images_stack(struct named_images *l, const char *frames, uint32_t pid);
/* The location of one frame, where execution is. */
uint32_t named_images_location(struct named_images *l, const char *frame, uint32_t pid);
/* Writes the maps of the names. */
must_use int named_images_keep(struct named_images *l, struct err *e);

#endif
