/* SPDX-License-Identifier: Apache-2.0
 *
 * chrome_slices - what a thread did as nested slices of time.
 *
 * Neighbours that share their outer frames are one slice there, also across a gap that is
 * too short to be told.  One thread.
 */
#ifndef DWELL_EXPORT_CHROME_SLICES_H
#define DWELL_EXPORT_CHROME_SLICES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "export/chrome_spans.h"

struct chrome_slice {
	uint64_t from_ns, to_ns;
	uint32_t frame, depth;
};

struct chrome_slices {
	VEC(struct chrome_slice) slices; /* of one thread; outer ones before inner ones */
	VEC(struct chrome_slice) open;	 /* their ends are not known */
	uint64_t end_ns;		 /* of the last piece */
};

/* The frames of a stack, the outermost first; the last n_own are slices of its own. */
struct chrome_frames {
	const uint32_t *at;
	size_t n, n_own;
};

void chrome_slices_fini(struct chrome_slices *s);
/* The next piece of the thread's time. */
void chrome_slices_add(struct chrome_slices *s, const struct chrome_span *piece,
		       const struct chrome_frames *frames);
/* All are closed, in order; the next thread begins after chrome_slices_clear(). */
void chrome_slices_finish(struct chrome_slices *s);
void chrome_slices_clear(struct chrome_slices *s);

#endif
