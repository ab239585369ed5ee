/* SPDX-License-Identifier: Apache-2.0
 *
 * frame_path - the frames of a stack from the outermost in, inlined ones expanded.
 *
 * While walking down a tree each step adds and removes frames at the end; for a single
 * stack the whole path is filled at once.  Zero-initialise, release with _fini.
 */
#ifndef DWELL_ANALYZE_FRAME_PATH_H
#define DWELL_ANALYZE_FRAME_PATH_H

#include "analyze/profile_data.h"

struct frame_path {
	VEC(struct profile_frame) frames;
	VEC(uint32_t) scratch;
};

void frame_path_fini(struct frame_path *path);
void frame_path_enter(struct frame_path *path, const struct profile *p,
		      const struct input *s, uint32_t stack);
void frame_path_leave(struct frame_path *path, const struct input *s, uint32_t stack);
void frame_path_fill(struct frame_path *path, const struct profile *p,
		     const struct input *s, uint32_t stack);

#endif
