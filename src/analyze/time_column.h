/* SPDX-License-Identifier: Apache-2.0
 *
 * time_column - which of a profile's events are of the time that instructions took.
 *
 * CPU time where it was sampled; else cycles of the CPU's counter.  Several recordings
 * are as many runs, which add up.
 */
#ifndef DWELL_ANALYZE_TIME_COLUMN_H
#define DWELL_ANALYZE_TIME_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"

#define TIME_COLUMN_NONE SIZE_MAX

/* Which of them is it, by recording: once all is summed, and before what follows. */
void time_column_choose(struct profile *p);
bool time_column_is(const struct profile *p, size_t column);
/* It is CPU time; of the several that a recording by several experiments has, one is. */
bool time_column_is_cpu(const struct profile *p, size_t column);
/* The next one from `from` on. */
size_t time_column_find(const struct profile *p, size_t from);
/* The one of a recording, whatever others have: CPU time, or the first of its cycles. */
size_t time_column_of_source(const struct profile *p, size_t source);
/* Its weights are cycles, not nanoseconds. */
bool time_column_is_cycles(const struct profile *p, size_t column);
/* What the CPU counts of user code: name is without what says where it is counted. */
bool time_column_is_counter(const struct profile_column *c, const char *name);

#endif
