/* SPDX-License-Identifier: Apache-2.0
 *
 * unfollowed - processes that are there and not observed: the recording says which, and
 * why.
 */
#ifndef DWELL_COLLECT_UNFOLLOWED_H
#define DWELL_COLLECT_UNFOLLOWED_H

#include <stdint.h>

#include "collect/tracker.h"
#include "store/writer.h"

/* Of one that the tracker knows.  exe: the path of its program, or NULL: as it is known.
 */
void unfollowed_note(const struct tracker *t, struct writer *w, uint32_t pid,
		     const char *exe, const char *why);

#endif
