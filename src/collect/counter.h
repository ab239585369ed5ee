/* SPDX-License-Identifier: Apache-2.0
 *
 * counter - what the kernel and the CPU can count, by well-known names.
 */
#ifndef DWELL_COLLECT_COUNTER_H
#define DWELL_COLLECT_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct perf_event_attr;

struct counter {
	const char *name, *unit, *description;
	uint32_t type; /* enum perf_type_id, or the number of a device's */
	uint64_t config, config1, config2;
	/* Where it does not count. */
	bool not_user, not_kernel, not_hypervisor;
	uint8_t precise; /* how near the sample is to its cause, as of perf_event_open()
			  */
	bool in_default; /* counted when none is asked for */
	bool in_kernel; /* happens there only: nothing is left of it without the kernel */
	uint64_t period; /* of samples of it, unless another is asked for; a prime */
};

/* Ends with .name NULL. */
extern const struct counter counters[];

/* Also perf's own spellings ("faults", "cs").  Unknown: NULL, and ERR_USAGE in *e names
 * the nearest. */
const struct counter *counter_find(const char *name, struct err *e);
/* Does it count time? */
bool counter_is_clock(const struct counter *c);
/* 0 when it can be counted here, else why not and what to do. */
must_use int counter_probe(const struct counter *c, struct err *e);
/* Of what happens on both sides, is only what happens outside the kernel counted? */
bool counter_is_user_only(void);
/* What says which event it is. */
void counter_set(const struct counter *c, struct perf_event_attr *a);
/* Opens it for a process and all it will start, counting from its exec on.  Returns the
 * descriptor; reads give value, time enabled, time running. */
must_use int counter_open(const struct counter *c, int pid, struct err *e);

#endif
