/* SPDX-License-Identifier: Apache-2.0
 *
 * session_observes - whether a recording is meant by who names a process.
 *
 * Those that the tracker knows it follows or not.  Where only sums are recorded nobody
 * has told it of children, as long as nothing came of them: they are looked up.
 */
#ifndef DWELL_COLLECT_SESSION_OBSERVES_H
#define DWELL_COLLECT_SESSION_OBSERVES_H

#include <stdbool.h>
#include <sys/types.h>

struct scope;
struct tracker;

/* program: what was launched, 0 none. */
bool session_observes(const struct scope *scope, const struct tracker *tracker,
		      pid_t program, pid_t pid);

#endif
