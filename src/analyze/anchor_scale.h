/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_scale - how many times what windows of exact counts have is executed in all.
 *
 * As often as a leader is, and as time passes: of each according to the slope, 1 being
 * the leader alone.
 */
#ifndef DWELL_ANALYZE_ANCHOR_SCALE_H
#define DWELL_ANALYZE_ANCHOR_SCALE_H

#include <stdint.h>

struct anchor_leader;

struct anchor_scale {
	const struct anchor_leader *leader, *time; /* time: NULL when windows stand for
						    * none */
	double slope;
};

/* Chooses the slope by which windows are off least; counts: [group]. */
void anchor_scale_fit(struct anchor_scale *s, const double *counts, uint32_t n_groups);
/* A logarithm. */
double anchor_scale_log(const struct anchor_scale *s);
/* How far what is executed goes with the scale is off, from window to window: a relative
 * variance, never as small as few windows have it that agree by chance.  ret_sum: of all
 * windows. */
double anchor_scale_variance(const struct anchor_scale *s, const double *counts,
			     uint32_t n_groups, double *ret_sum);
/* The variance of a sum of n by the squares of how far each was off as a part of it, of
 * which so many were free to be. */
double anchor_scale_spread(double squares, double n, double n_free);
/* What does not come of windows. */
double anchor_scale_own_variance(const struct anchor_scale *s);

#endif
