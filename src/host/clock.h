/* SPDX-License-Identifier: Apache-2.0
 *
 * clock - the clocks of a recording, in nanoseconds.
 */
#ifndef DWELL_HOST_CLOCK_H
#define DWELL_HOST_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The clock of every time in a recording. */
static inline uint64_t clock_monotonic_ns(void)
{
	return clock_read_ns(CLOCK_MONOTONIC);
}

#endif
