/* SPDX-License-Identifier: Apache-2.0
 *
 * gauge - what the system counts of a process or of the machine, at a moment: what a
 * recording holds of it, and what that is called.
 */
#ifndef DWELL_STORE_GAUGE_H
#define DWELL_STORE_GAUGE_H

#include <stdint.h>

/* What the meters of the system said at a moment, of a process or of the machine.
 * Stored: never renumber; others are of later versions. */
enum gauge_what {
	/* Since the process began, of all its threads and of children that it waited for:
	 */
	GAUGE_USER_NS = 0,
	GAUGE_SYSTEM_NS = 1,
	GAUGE_MINOR_FAULTS = 2,
	GAUGE_MAJOR_FAULTS = 3,
	GAUGE_READ_BYTES = 4, /* by calls */
	GAUGE_WRITTEN_BYTES = 5,
	GAUGE_DISK_READ_BYTES = 6, /* of them, what went to or came from devices */
	GAUGE_DISK_WRITTEN_BYTES = 7,
	/* Now: */
	GAUGE_RESIDENT_BYTES = 8,
	GAUGE_THREADS = 9,
	/* Since it was first looked at, of its threads alone: */
	GAUGE_READY_NS = 10, /* waited for a CPU */
	GAUGE_TURNS = 11,    /* began to run */
	/* Of the machine; the times are those of all its CPUs since it was started: */
	GAUGE_LOAD_HUNDREDTHS = 12, /* of the last minute */
	GAUGE_BUSY_NS = 13,
	GAUGE_IDLE_NS = 14,
	GAUGE_DISK_WAIT_NS = 15, /* idle, while something waited for a device */
	GAUGE_STOLEN_NS = 16,
	GAUGE_AVAILABLE_BYTES = 17,
	/* Of the CPU time above, that of children that were waited for: */
	GAUGE_CHILDREN_NS = 18,
	GAUGE_N_WHATS
};

struct gauge {
	uint64_t time_ns;
	uint32_t pid;  /* 0: the machine */
	uint32_t what; /* enum gauge_what */
	uint64_t value;
};

/* By enum gauge_what: "user-time", "load" ... */
extern const char *const gauge_names[GAUGE_N_WHATS];
/* NULL: it is of a later version. */
const char *gauge_name(uint32_t what);

#endif
