/* SPDX-License-Identifier: Apache-2.0
 *
 * late_image - a program image whose stacks are told late: what the tracker knows of its
 * pid then may already be another image, whose code lies elsewhere.
 *
 * So it has mappings of its own; images, threads and processes are those of the
 * recording.
 */
#ifndef DWELL_COLLECT_LATE_IMAGE_H
#define DWELL_COLLECT_LATE_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/own.h"
#include "collect/tracker.h"

struct late_image;

/* The image of pid that the source that tells now has told of last.  A fork has the
 * mappings of parent, or if that is NULL those that the tracker knows of it. */
struct late_image *late_image_new(struct tracker *t, uint64_t time_ns, uint32_t pid,
				  bool is_fork, const struct late_image *parent);
void late_image_free(struct late_image *m);
/* It has ended, or is not observed any more: a compiler's map may be there now. */
void late_image_end(struct late_image *m);

/* Of the recording. */
uint32_t late_image_process(const struct late_image *m);
bool late_image_is_followed(const struct late_image *m);
uint32_t late_image_thread(struct late_image *m, uint64_t time_ns, uint32_t tid);
/* Does the tracker know it as what its pid runs now? */
bool late_image_is_current(const struct late_image *m);

/* To the tracker, too, where nobody else did it. */
void late_image_mmap(struct late_image *m, uint64_t time_ns,
		     const struct tracker_mmap *map);
/* The image of the recording that code at an address is of, MODEL_NONE: of no file that
 * was told. */
uint32_t late_image_image(const struct late_image *m, uint64_t pc);
uint32_t late_image_stack(struct late_image *m, const struct tracker_sample *s);

#endif
