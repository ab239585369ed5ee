/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_gaps - how often a place came in the native time between windows, watched or
 * not.
 */
#ifndef DWELL_ANALYZE_ANCHOR_GAPS_H
#define DWELL_ANALYZE_ANCHOR_GAPS_H

#include <stdbool.h>
#include <stddef.h>

struct anchor_leader;
struct anchor_rows;

/* Of a gap, to be known by what was watched in it. */
#define ANCHOR_GAPS_KNOWN 0.9

struct anchor_gap {
	double rate; /* hits in a native nanosecond; NAN: not known */
	double missed_ns;
	double in_windows; /* such a rate in those on both sides, in any unit */
};

/* Before each window, and behind the last: an array to be freed, without windows. */
struct anchor_gap *anchor_gaps_find(const struct anchor_rows *rows,
				    const struct anchor_leader *l);

/* Hits while it was not watched.  As often as in the known gaps next to that, and as
 * windows have it: each counts the more, the better it tells known gaps.  Where none is,
 * windows' unit is that of a rate.  ret_variance: of the result; INFINITY: what has such
 * a rate in windows was not counted as in gaps. */
double anchor_gaps_missed(const struct anchor_gap *gaps, size_t n, bool are_rates,
			  double *ret_variance);

#endif
