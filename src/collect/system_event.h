/* SPDX-License-Identifier: Apache-2.0
 *
 * system_event - an event that is sampled on whole CPUs, and how it is opened.
 */
#ifndef DWELL_COLLECT_SYSTEM_EVENT_H
#define DWELL_COLLECT_SYSTEM_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/counter.h"

#define SYSTEM_EVENTS_MAX 16

struct system_event {
	const struct counter *counter;
	uint64_t period; /* in the counter's unit, on average; the first, where there is
			  * a rate */
	uint64_t hz;	 /* samples a second where there are most; 0: the period stays */
};

/* The CPU's own. */
struct system_event system_event_clock(uint64_t period_ns);
/* Does it take a register of the CPU, of which there are few? */
bool system_event_is_hardware(const struct system_event *ev);

/* Where there is a rate. */
uint64_t system_event_least_period(const struct system_event *ev);

/* How it is opened. */
struct system_event_how {
	int tid, cpu;	/* -1: any, as of perf_event_open() */
	bool is_pinned; /* on all the time, or reads end at once */
};

/* The descriptor; system_event_read() reads it. */
must_use int system_event_open(const struct system_event *ev,
			       const struct system_event_how *how, struct err *e);

/* Has this machine the counter?  ERR_UNSUPPORTED and why: no. */
must_use int system_event_check(const struct counter *counter, struct err *e);

/* Since it was opened. */
struct system_event_reading {
	uint64_t counted, enabled_ns, on_ns;
};

/* False: it was pinned and has no register, or its CPU is gone. */
bool system_event_read(int fd, struct system_event_reading *ret);

#endif
