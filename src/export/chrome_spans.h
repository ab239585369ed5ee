/* SPDX-License-Identifier: Apache-2.0
 *
 * chrome_spans - what a thread did, laid out so that nothing overlaps.
 *
 * What is known best counts: of calls that were kept one by one the one that began last,
 * within the others; waits, as far as these leave time; then what samples stand for.  One
 * thread.
 */
#ifndef DWELL_EXPORT_CHROME_SPANS_H
#define DWELL_EXPORT_CHROME_SPANS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum chrome_span_rank {
	CHROME_SPAN_SAMPLE, /* the time before it */
	CHROME_SPAN_WAIT,   /* from when to when it was */
	CHROME_SPAN_EACH,   /* and what for; there may be others within */
};

struct chrome_span {
	uint64_t from_ns, to_ns;
	uint64_t gap_ns; /* a shorter one before it is none: what it does went on */
	uint32_t stack;	 /* the caller's */
	enum chrome_span_rank rank;
};

struct chrome_spans {
	VEC(struct chrome_span) spans;	/* as they are added, in any order */
	VEC(struct chrome_span) pieces; /* of these, one after the other */
	VEC(struct chrome_span) open;	/* around the next of those kept one by one */
	VEC(struct chrome_span)
	added; /* pieces of a rank, between those of higher ones */
};

void chrome_spans_fini(struct chrome_spans *s);
void chrome_spans_clear(struct chrome_spans *s);
/* Nothing is of no time. */
void chrome_spans_add(struct chrome_spans *s, const struct chrome_span *x);
/* Makes the pieces of all. */
void chrome_spans_lay(struct chrome_spans *s);

#endif
