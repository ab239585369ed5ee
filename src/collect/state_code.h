/* SPDX-License-Identifier: Apache-2.0
 *
 * state_code - where the kernel has the code by which waits are told apart.
 */
#ifndef DWELL_COLLECT_STATE_CODE_H
#define DWELL_COLLECT_STATE_CODE_H

#include "base/err.h"
#include "base/own.h"
#include "wire/state_record.h"

/* The scheduler's functions, and those that serve page faults. */
must_use int state_code_find(struct state_record_range *scheduler,
			     struct state_record_range faults[STATE_RECORD_FAULT_RANGES],
			     struct err *e);

#endif
