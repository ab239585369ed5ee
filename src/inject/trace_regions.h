/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_regions - blocks that the program marks (include/dwell.h), and functions compiled
 * with -finstrument-functions.
 *
 * Every thread that has a region has a tree of them in memory of its own, and now and
 * then tells the recorder what of it has changed.
 */
#ifndef DWELL_INJECT_TRACE_REGIONS_H
#define DWELL_INJECT_TRACE_REGIONS_H

#include <stdint.h>

#include "inject/trace_runtime.h"
#include "wire/tracer_regions.h"

static inline const struct wire_regions_control *trace_regions_control(void)
{
	return (const void *)((const char *)trace_runtime.meeting.control +
			      WIRE_REGIONS_CONTROL_AT);
}

/* Once, when the tracer is on. */
void trace_regions_init(void);
/* All that is to be told, as the process may be about to end. */
void trace_regions_tell(void);
/* The recorder leaves: what it is still to hear is told, once. */
void trace_regions_end(void);
/* All of it goes: no thread is about to use it. */
void trace_regions_unmap(void);
/* In a forked child: one thread is left, and its regions have begun in its parent. */
void trace_regions_after_fork(void);

#endif
