/* SPDX-License-Identifier: Apache-2.0
 *
 * gauge_tracks - what the system counted, as values over time.
 *
 * One track may be several gauges that are one thing together.
 */
#ifndef DWELL_ANALYZE_GAUGE_TRACKS_H
#define DWELL_ANALYZE_GAUGE_TRACKS_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/global_rows.h"

struct gauge_track {
	const char *name, *unit;
	enum gauge_what what, and;
	double scale; /* of one; of a second where it is counted */
};

#define GAUGE_TRACKS_N 4

extern const struct gauge_track gauge_tracks[GAUGE_TRACKS_N];

/* It is so at the end of an interval, and not of all of it. */
bool gauge_tracks_is_now(const struct gauge_track *t);
/* False: it is not known of that interval. */
bool gauge_tracks_value(const struct gauge_track *t, const struct global_row *row,
			double *ret);

#endif
