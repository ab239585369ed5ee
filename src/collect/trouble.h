/* SPDX-License-Identifier: Apache-2.0
 *
 * trouble - that something does not work for a while: since when and why, and of the last
 * time for how long.
 *
 * Zero-initialise.  Times are of the monotonic clock.  One thread.
 */
#ifndef DWELL_COLLECT_TROUBLE_H
#define DWELL_COLLECT_TROUBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct trouble {
	bool is_on;
	struct err why;		/* the last cause */
	uint64_t since_ns;	/* when it began */
	uint64_t ended_ns;	/* if it is over; 0: there was none yet */
	uint64_t waiting_bytes; /* the most that waited in memory because of it */
	uint64_t n;		/* how many there were */
};

/* How it is at that moment; why NULL: well. */
void trouble_note(struct trouble *t, const struct err *why, uint64_t waiting_bytes,
		  uint64_t now_ns);
/* How long it has lasted, or did. */
uint64_t trouble_lasted_ns(const struct trouble *t, uint64_t now_ns);

#endif
