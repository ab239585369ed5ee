/* SPDX-License-Identifier: Apache-2.0
 *
 * count_status - whether a running process can be counted, by what /proc tells of it.
 */
#ifndef DWELL_COLLECT_COUNT_STATUS_H
#define DWELL_COLLECT_COUNT_STATUS_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

struct newcomers;

struct count_status {
	uid_t uid; /* effective */
	gid_t gid;
};

/* Of the text of /proc/PID/status; ERR_UNSUPPORTED: why it cannot be. */
must_use int count_status_parse(const char *text, struct count_status *ret,
				struct err *e);

/* All that can be asked without touching it. */
must_use int count_status_check(pid_t pid, struct count_status *ret, struct err *e);

/* Of its memory, by mlock() and mlockall(). */
uint64_t count_status_locked_kb(pid_t pid);

/* What we start has our limits: such as are too low for the engine, which may not raise
 * them. */
must_use int count_status_check_own(struct err *e);

/* Whether others have the same memory, as between vfork() and exec; of one that is
 * stopped, so that this does not pass by itself.  alone: since when none had, as it was
 * told before, or all zeros; now, on success. */
must_use int count_status_check_sharing(pid_t pid, struct newcomers *alone,
					struct err *e);

#endif
