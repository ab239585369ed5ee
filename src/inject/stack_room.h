/* SPDX-License-Identifier: Apache-2.0
 *
 * stack_room - whether the stack that we are on has so much room: a thread's may be
 * small, and a handler's more so.
 *
 * By bare system calls, on any stack and in any process.
 */
#ifndef DWELL_INJECT_STACK_ROOM_H
#define DWELL_INJECT_STACK_ROOM_H

#include <stdbool.h>
#include <stddef.h>

/* Below the caller's frame. */
bool stack_room_is(size_t bytes);

#endif
