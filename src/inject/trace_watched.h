/* SPDX-License-Identifier: Apache-2.0
 *
 * trace_watched - calls that change what the tracer knows without asking again: where a
 * thread's signal handlers run, and, by way of syscall(), what descriptors are.
 *
 * That a program makes such a system call by itself is not seen.
 */
#ifndef DWELL_INJECT_TRACE_WATCHED_H
#define DWELL_INJECT_TRACE_WATCHED_H

#include <stdbool.h>

/* Are they wrapped in this library? */
extern const bool trace_watched;

/* Find what the wrappers hide, where that cannot be done from a signal's handler. */
void trace_watched_look_up(void);
/* Before and behind a call that syscall() makes. */
void trace_watched_note(long nr, const long *arguments);

#endif
