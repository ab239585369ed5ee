/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_sums.h"

#include "collect/source.h"
#include "collect/tracker.h"
#include "host/clock.h"

uint64_t session_sums_tell(struct source *const *these, size_t n, struct tracker *tracker)
{
	uint64_t began_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	for (size_t i = 0; i < n; i++) {
		if (!these[i]->ops->sync)
			continue;
		tracker_set_teller(tracker, (unsigned)i);
		these[i]->ops->sync(these[i]);
	}
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
}
