/* SPDX-License-Identifier: Apache-2.0
 *
 * live_recorder - the process that records for a live view.
 *
 * Records into files of a directory, into the next when one has grown large, and answers
 * "recent" at the socket "control" there.  What becomes of it is told in lines through a
 * pipe: "ok" when it is ready, "ended" when there is nothing to observe any more, or
 * "error TEXT".
 */
#ifndef DWELL_COLLECT_LIVE_RECORDER_H
#define DWELL_COLLECT_LIVE_RECORDER_H

#include "collect/live.h"

#define LIVE_RECORDER_SOCKET "control"

/* Until it is told to end; an exit code. */
int live_recorder_run(const struct live_settings *settings, const char *directory,
		      int report);
/* And all that is in it. */
void live_recorder_remove(const char *directory);

#endif
