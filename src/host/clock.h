/* SPDX-License-Identifier: Apache-2.0
 *
 * clock - the clocks of a recording, in nanoseconds.
 */
#ifndef DWELL_HOST_CLOCK_H
#define DWELL_HOST_CLOCK_H

#include <stdint.h>
#include <time.h>

/* No sleep is shorter; the difference of two clocks varies by less. */
#define CLOCK_SLEEP_MIN_NS 1000000

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

/* Since the machine began, of which it slept: what one clock counts and the other not.
 * They are read behind each other, so the least of some differences is nearest. */
static inline uint64_t clock_asleep_ns(void)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < 8; i++) {
		uint64_t awake = clock_monotonic_ns();
		uint64_t more = clock_read_ns(CLOCK_BOOTTIME) - awake;

		least = more < least ? more : least;
	}
	return least;
}

/* How long it slept since that was read; 0 where it did not. */
static inline uint64_t clock_asleep_since_ns(uint64_t before)
{
	uint64_t now = clock_asleep_ns();

	return now > before + CLOCK_SLEEP_MIN_NS ? now - before : 0;
}

#endif
