/* SPDX-License-Identifier: Apache-2.0
 *
 * count_handover - what the counting engine is told of a process that already runs.
 *
 * The bytes of wire/count_control.h, as they will be at an address there.
 */
#ifndef DWELL_COLLECT_COUNT_HANDOVER_H
#define DWELL_COLLECT_COUNT_HANDOVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "wire/count_control.h"

#define COUNT_HANDOVER_STACK_BYTES 0x20000

/* All borrowed. */
struct count_handover {
	const char *maps; /* the text of /proc/PID/maps */
	size_t maps_bytes;
	const char *exe;  /* the program's own image comes first */
	const char *name; /* as the kernel has it */
	const char *prefix, *flags;
	uint64_t owner;
	uint64_t room; /* for all of it and the stack to begin on, behind */
	/* Its own memory, which is none of the program's; 0: there is none. */
	uint64_t engine, engine_bytes;
	const struct count_control_thread *threads; /* the first one begins the engine */
	size_t n_threads;
};

/* Appends; as long for any address. */
void count_handover_make(const struct count_handover *h, uint64_t at, struct buf *ret);

#endif
