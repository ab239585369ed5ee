/* SPDX-License-Identifier: Apache-2.0 */
#include "collect/session_sums.h"

#include "collect/source.h"
#include "collect/tracker.h"

void session_sums_tell(struct source *const *these, size_t n, struct tracker *tracker)
{
	for (size_t i = 0; i < n; i++) {
		if (!these[i]->ops->sync)
			continue;
		tracker_set_teller(tracker, (unsigned)i);
		these[i]->ops->sync(these[i]);
	}
}
