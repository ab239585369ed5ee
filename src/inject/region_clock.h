/* SPDX-License-Identifier: Apache-2.0
 *
 * region_clock - what passes in regions: time, CPU time of the thread, or what a counter
 * of the thread counts.
 *
 * Time is read from the CPU's own counter where the recorder says that it is as good as
 * the kernel's clock: that is half of its price.
 */
#ifndef DWELL_INJECT_REGION_CLOCK_H
#define DWELL_INJECT_REGION_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "inject/region_rate.h"

enum region_clock_kind {
	REGION_CLOCK_TICKS, /* of time */
	REGION_CLOCK_NS,
	REGION_CLOCK_CPU,
	REGION_CLOCK_EVENTS,
};

struct region_clock {
	enum region_clock_kind kind;
	uint64_t ns, ticks; /* of when the process' regions began to be observed */
};

extern struct region_clock region_clock;

/* What counts for a thread.  The program may close it, and have another file there. */
struct region_counter {
	int fd;		     /* -1 none */
	uint64_t id;	     /* the kernel's */
	uint64_t checked_ns; /* then it was still there */
};

/* As the recorder asks for; once for each program image. */
void region_clock_init(void);

static inline uint64_t region_clock_ticks(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t v;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(v));
	return v;
#endif
}

uint64_t region_clock_read(struct region_counter *counter);

static inline uint64_t region_clock_now(struct region_counter *counter)
{
	return __builtin_expect(region_clock.kind == REGION_CLOCK_TICKS, 1)
		       ? region_clock_ticks()
		       : region_clock_read(counter);
}

/* How long a tick takes; 1 where a unit is what it is.  The longer ago the beginning, the
 * more exact. */
struct region_rate region_clock_rate(void);

/* The calling thread's; none where none is needed. */
void region_clock_open(struct region_counter *ret);
void region_clock_close(struct region_counter *counter);

#endif
