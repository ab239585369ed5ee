/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_course - how much a process held, over its time, in a bounded number of points.
 *
 * Time is cut into spans of one length, which doubles whenever there are too many.
 * Zero-initialise; nothing is to be released.
 */
#ifndef DWELL_COLLECT_HEAP_COURSE_H
#define DWELL_COLLECT_HEAP_COURSE_H

#include <stddef.h>
#include <stdint.h>

#define HEAP_COURSE_POINTS 512
#define HEAP_COURSE_SPAN   UINT64_C(1000000) /* ns, at first */

struct heap_point {
	uint64_t end_ns;
	uint64_t most_bytes, bytes, blocks;    /* held: at most within, and at the end */
	uint64_t allocated_bytes, allocations; /* until the end, since the beginning */
};

struct heap_course {
	uint64_t start_ns, span_ns; /* span_ns 0: nothing happened yet */
	struct heap_point now;	    /* of the span under way */
	struct heap_point at[HEAP_COURSE_POINTS];
	size_t n;
};

/* What is held after an event; spans in which nothing happened have no point. */
void heap_course_add(struct heap_course *c, uint64_t time_ns,
		     const struct heap_point *now);
/* Closes the last span.  Nothing is added behind it. */
void heap_course_end(struct heap_course *c);

#endif
