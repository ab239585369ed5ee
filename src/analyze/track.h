/* SPDX-License-Identifier: Apache-2.0
 *
 * track - how what an event was of can be laid out over time.
 *
 * Every picture of a recording over time asks here what a sample stands for: the time
 * before it, the time from it on, or all that was since the samples before.
 */
#ifndef DWELL_ANALYZE_TRACK_H
#define DWELL_ANALYZE_TRACK_H

#include <stdbool.h>
#include <stddef.h>

#include "analyze/profile.h"

enum track_kind {
	TRACK_AMOUNT, /* no time: so much at that moment, or since the sums before */
	TRACK_SUM,    /* time that was spent since the sums before */
	TRACK_BEFORE, /* of the time before it, as much as it weighs */
	TRACK_FROM,   /* of the time from it on */
};

/* Of samples that pass profile_each_sample(). */
enum track_kind track_kind_of(const struct profile *p, size_t column);
/* Each sample is a span of its thread, which does one thing at a time, unless it is
 * beside that. */
bool track_has_spans(const struct profile *p, size_t column);
/* Where such a span ends; it is as long as the sample weighs. */
uint64_t track_end_ns(const struct profile *p, const struct profile_sample *s);
/* Each sample is of one event, at its time; sums of these are another column. */
bool track_is_each(const struct profile *p, size_t column);
/* And it went on beside what its thread did, and beside others of its kind. */
bool track_is_beside(const struct profile *p, size_t column);
/* A column of sums, all of which is there one by one as well. */
bool track_is_told_one_by_one(const struct profile *p, size_t column);
/* A column of each by itself that has all that is summed up. */
bool track_is_instead(const struct profile *p, size_t column);
/* What is shown unasked: no more detail than tables have, and no part twice. */
bool track_is_shown(const struct profile *p, size_t column);
/* enum event_flag of the event that a column is of. */
uint32_t track_flags(const struct profile *p, size_t column);

#endif
