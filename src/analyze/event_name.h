/* SPDX-License-Identifier: Apache-2.0
 *
 * event_name - which of the events that CPUs count tell of which cause of stalls.
 *
 * A cause that has an event cannot have taken longer than all of its events at their
 * worst, and what passes without one.
 */
#ifndef DWELL_ANALYZE_EVENT_NAME_H
#define DWELL_ANALYZE_EVENT_NAME_H

#include <stdbool.h>
#include <stdint.h>

struct event_name {
	const char *name; /* without what says where and how precisely it is counted */
	uint8_t cause;	  /* enum stall_cause */
	double worst;	  /* cycles that one may take */
	double near;	  /* and what the same cause may take each time without one */
};

/* name: as recordings have it: "dtlb-misses:u", "cpu/cache-misses/pp".  NULL: it tells of
 * no cause, or not of what happens in programs. */
const struct event_name *event_name_find(const char *name);
/* Where the CPU itself says which instruction it was. */
bool event_name_is_precise(const char *name);
/* User code is counted, by what is behind a colon or the last slash. */
bool event_name_has_user(const char *name);

#endif
