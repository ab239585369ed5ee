/* SPDX-License-Identifier: Apache-2.0
 *
 * state_calls - what a thread that is blocked in a system call waits for.
 */
#ifndef DWELL_COLLECT_STATE_CALLS_H
#define DWELL_COLLECT_STATE_CALLS_H

#include <stdint.h>

#include "wire/state_record.h"

/* enum state_record_state by the number of the call, on this architecture. */
void state_calls_fill(uint8_t states[STATE_RECORD_CALLS_MAX]);

#endif
