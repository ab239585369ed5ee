/* SPDX-License-Identifier: Apache-2.0
 *
 * chrome_slices - the samples of a thread as nested slices of time.
 *
 * A sample stands for the time before it, as much as it weighs; neighbours that share
 * their outer frames are one slice there.  A thread does one thing at a time: what would
 * overlap an earlier sample is cut.  One thread.
 */
#ifndef DWELL_EXPORT_CHROME_SLICES_H
#define DWELL_EXPORT_CHROME_SLICES_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct chrome_slice {
	uint64_t from_ns, to_ns;
	uint32_t frame, depth;
};

struct chrome_slices {
	VEC(struct chrome_slice) slices; /* of one thread; outer ones before inner ones */
	VEC(struct chrome_slice) open;	 /* their ends are not known */
	uint64_t end_ns;		 /* of the last sample */
};

void chrome_slices_fini(struct chrome_slices *s);
/* The next sample by time: its frames, the outermost first. */
void chrome_slices_add(struct chrome_slices *s, uint64_t time_ns, uint64_t weight_ns,
		       const uint32_t *frames, size_t n);
/* All are closed, in order; the next thread begins after chrome_slices_clear(). */
void chrome_slices_finish(struct chrome_slices *s);
void chrome_slices_clear(struct chrome_slices *s);

#endif
