/* SPDX-License-Identifier: Apache-2.0
 *
 * image_note - what is known of an image's file, as bytes: what it takes to name its
 * code.
 *
 * Whoever goes on where another process was killed reads them, so they may be of anybody.
 */
#ifndef DWELL_COLLECT_IMAGE_NOTE_H
#define DWELL_COLLECT_IMAGE_NOTE_H

#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/own.h"
#include "collect/image_file.h"

/* Of one note. */
#define IMAGE_NOTE_MAX 16384

/* False: its names are too long. */
bool image_note_encode(const struct image_file *f, struct buf *ret);
/* Its file is not open; release with image_file_fini(). */
must_use int image_note_decode(const void *data, size_t size, struct image_file *ret,
			       struct err *e);

#endif
