/* SPDX-License-Identifier: Apache-2.0
 *
 * state_code - where the kernel has the code by which waits and wakers are told apart.
 */
#ifndef DWELL_COLLECT_STATE_CODE_H
#define DWELL_COLLECT_STATE_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "wire/state_record.h"

#define STATE_CODE_KINDS 9

struct state_code {
	struct state_record_range scheduler;
	struct state_record_range faults[STATE_RECORD_FAULT_RANGES];
	struct state_record_range waking;     /* the function that wakes a thread */
	struct state_record_range interrupts; /* where they enter; empty: unknown */
	struct state_record_range kinds[STATE_CODE_KINDS]; /* what is done in them */
};

must_use int state_code_find(struct state_code *ret, struct err *e);

/* What an interrupt with these frames, the innermost first, was of: "timer", "network",
 * "disk"; NULL: anything else. */
const char *state_code_interrupt(const struct state_code *c, const uint64_t *frames,
				 size_t n);

#endif
