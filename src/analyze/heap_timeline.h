/* SPDX-License-Identifier: Apache-2.0
 *
 * heap_timeline - what a process held from its beginning to its end, in lines of the same
 * length, with the marks that were made meanwhile and what of it was in RAM.
 *
 * Zero-initialise, release with heap_timeline_fini().  Names are the recording's.
 */
#ifndef DWELL_ANALYZE_HEAP_TIMELINE_H
#define DWELL_ANALYZE_HEAP_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/heap_rows.h"
#include "analyze/profile.h"
#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"

/* Courses have no more points. */
#define HEAP_TIMELINE_MAX 512

/* Times are those since the process began. */
struct heap_timeline_line {
	uint64_t from_ns, to_ns;
	uint64_t most_bytes;	/* held at most within */
	uint64_t bytes, blocks; /* held at its end */
	uint64_t allocations;	/* within */
	uint64_t resident_bytes;
	bool has_resident; /* it was looked at by then */
	bool is_peak;	   /* the first in which the process held most */
};

struct heap_timeline_mark {
	uint64_t time_ns;
	uint32_t interval; /* its id: number - 1 */
	const char *name;  /* or what made it, where it has none */
};

struct heap_timeline {
	uint32_t process; /* MODEL_NONE: none held anything */
	uint64_t most_bytes;
	bool has_resident; /* some line has */
	VEC(struct heap_timeline_line) lines;
	VEC(struct heap_timeline_mark) marks;
};

/* Of the process that held most of those whose samples pass the filter. */
must_use int heap_timeline_load(struct heap_timeline *t, const struct profile *p,
				size_t source, const struct heap_rows *rows,
				size_t n_lines, struct err *e);
void heap_timeline_fini(struct heap_timeline *t);
/* An interval that somebody ended, not the timer or the end of the recording. */
bool heap_timeline_is_mark(const struct recording *r, const struct model_interval *v);

#endif
