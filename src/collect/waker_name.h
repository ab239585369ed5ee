/* SPDX-License-Identifier: Apache-2.0
 *
 * waker_name - how recordings call who wakes a thread: a program, a kind of interrupt.
 */
#ifndef DWELL_COLLECT_WAKER_NAME_H
#define DWELL_COLLECT_WAKER_NAME_H

#include "collect/state_code.h"
#include "wire/stack_record.h"

#define WAKER_NAME_MAX 64

/* "[woken by NAME]", "[woken by interrupt: timer]"; code NULL: interrupts have no kind.
 */
void waker_name(const struct state_code *code, const struct stack_record *waker,
		char ret[WAKER_NAME_MAX]);

#endif
