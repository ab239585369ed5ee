/* SPDX-License-Identifier: Apache-2.0 */
#include "analyze/anchor_scale.h"

#include <math.h>
#include <stdbool.h>

#include "analyze/anchor_leaders.h"

/* Windows, and parts of the time, of a program differ by that, before any is known.  It
 * is worth one of them, as a few may agree by chance. */
#define USUAL 0.2
/* Of a window that is the only one, beside what windows differ by: what a program does
 * next is in none.  So far that programs of phases are told right more often than not. */
#define ALONE 4
/* Of what is told of a group, that others do at least. */
#define LEAST_LEFT 0.01

/* The part that a group of windows should have of what is executed in all of them. */
static double part_of(const struct anchor_scale *s, uint32_t group)
{
	double part = s->leader->counted[group] / s->leader->all_counted;

	if (!s->time)
		return part;
	return s->slope * part +
	       (1 - s->slope) * s->time->counted[group] / s->time->all_counted;
}

double anchor_scale_log(const struct anchor_scale *s)
{
	double by = log(s->leader->natively / s->leader->all_counted);

	if (!s->time)
		return by;
	return s->slope * by +
	       (1 - s->slope) * log(s->time->natively / s->time->all_counted);
}

double anchor_scale_spread(double squares, double n, double n_free)
{
	return (n * squares + USUAL * USUAL / n) / n_free;
}

/* By how much the leader has more of its own in a group than time has. */
static double beyond_time(const struct anchor_scale *s, uint32_t group)
{
	return s->leader->counted[group] / s->leader->all_counted -
	       s->time->counted[group] / s->time->all_counted;
}

/* Of the slope, how much each group tells: what is left over of one that tells all of it
 * is nothing, whatever the others would have made of it. */
static double sum_of_slope(const struct anchor_scale *s, uint32_t n_groups)
{
	double sum = 0;

	if (s->slope <= 0 || s->slope >= 1)
		return INFINITY;
	for (uint32_t i = 0; i < n_groups; i++)
		sum += pow(beyond_time(s, i), 2);
	return sum;
}

/* Each group is off by what it would be if the others told the scale: where one has next
 * to all, it agrees with itself only. */
double anchor_scale_variance(const struct anchor_scale *s, const double *counts,
			     uint32_t n_groups, double *ret_sum)
{
	double sum = 0, off = 0, alike = 0, of_slope = sum_of_slope(s, n_groups);

	for (uint32_t i = 0; i < n_groups; i++)
		sum += counts[i];
	*ret_sum = sum;
	if (sum <= 0)
		return INFINITY;
	for (uint32_t i = 0; i < n_groups; i++) {
		double part = counts[i] / sum, own = part_of(s, i), left = 1;

		if (of_slope < INFINITY && of_slope > 0)
			left = 1 - pow(beyond_time(s, i), 2) / of_slope;
		off += pow((part - own) / fmax(left, LEAST_LEFT), 2) /
		       fmax(1 - own, LEAST_LEFT);
		alike += part * part;
	}
	if (n_groups == 1)
		return USUAL * USUAL * ALONE;
	return off + USUAL * USUAL * alike / fmax(1 / alike - 1, LEAST_LEFT);
}

double anchor_scale_own_variance(const struct anchor_scale *s)
{
	return s->slope * s->slope * s->leader->variance;
}

void anchor_scale_fit(struct anchor_scale *s, const double *counts, uint32_t n_groups)
{
	double sum = 0, with = 0, square = 0;

	s->slope = 1;
	if (!s->time || s->time == s->leader)
		return;
	for (uint32_t i = 0; i < n_groups; i++)
		sum += counts[i];
	for (uint32_t i = 0; i < n_groups; i++) {
		double time = s->time->counted[i] / s->time->all_counted,
		       x = s->leader->counted[i] / s->leader->all_counted - time;

		with += (counts[i] / sum - time) * x;
		square += x * x;
	}
	if (square > 0)
		s->slope = fmin(fmax(with / square, 0), 1);
}
