/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_calibration - makes what windows of exact counts stand for have as many hits of
 * counters as there were natively.
 *
 * Windows are few, and chance has the more of one thing in them and the less of another.
 * Of counters it is known how often they came in all of the time: weights are changed
 * as little as that takes, the squares of their changes being least, all at once
 * (generalized regression of survey samples, with a ridge for what few windows tell).
 */
#ifndef DWELL_ANALYZE_ANCHOR_CALIBRATION_H
#define DWELL_ANALYZE_ANCHOR_CALIBRATION_H

struct anchor_leaders;
struct anchor_rows;

/* Of windows that are weighed. */
void anchor_calibration_make(const struct anchor_leaders *l, struct anchor_rows *rows);

#endif
