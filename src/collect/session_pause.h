/* SPDX-License-Identifier: Apache-2.0
 *
 * session_pause - who of a session's sources observes at the moment.
 *
 * There are two causes to rest: who records wants a pause, and another source changes
 * what the program executes.  A source is told when the two together change for it and
 * at no other time: what was under way is reckoned with at the beginning of a pause, so
 * that an end without one would lose it.  One thread.
 */
#ifndef DWELL_COLLECT_SESSION_PAUSE_H
#define DWELL_COLLECT_SESSION_PAUSE_H

#include <stdbool.h>
#include <stddef.h>

struct source;

/* Sources that are new observe; again whenever either cause may have changed. */
void session_pause_tell(struct source *const *these, size_t n, bool is_paused);

#endif
