/* SPDX-License-Identifier: Apache-2.0
 *
 * traced_cuts - the ends of intervals that lie before the next event of a process.
 *
 * An end that is heard of when later events have come already is before the next one.
 */
#ifndef DWELL_COLLECT_TRACED_CUTS_H
#define DWELL_COLLECT_TRACED_CUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/gauges.h"

struct traced_cuts {
	const struct gauges_cuts *of; /* NULL: there are none */
	size_t n_seen;
	VEC(struct gauges_cut) waiting; /* by time */
	size_t n_passed;		/* the first of them, which wait no more */
	uint64_t next_ns;		/* the next one, or UINT64_MAX */
};

/* Those behind a time; of: borrowed, or NULL.  Before the first event they are due. */
void traced_cuts_begin(struct traced_cuts *c, const struct gauges_cuts *of,
		       uint64_t from_ns);
void traced_cuts_fini(struct traced_cuts *c);

/* Before an event of that time there may be one. */
static inline bool traced_cuts_are_due(const struct traced_cuts *c, uint64_t time_ns)
{
	return time_ns >= c->next_ns || (c->of && c->n_seen != c->of->heard.n);
}

/* The next one before an event of that time.  False: there is none. */
bool traced_cuts_next(struct traced_cuts *c, uint64_t time_ns, struct gauges_cut *ret);

#endif
