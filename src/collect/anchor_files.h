/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_files - what engines count in windows, from their files.
 */
#ifndef DWELL_COLLECT_ANCHOR_FILES_H
#define DWELL_COLLECT_ANCHOR_FILES_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "collect/anchor_processes.h"
#include "collect/count_directory.h"
#include "collect/count_resting.h"

struct anchor_files {
	struct count_directory directory;	  /* without a path until it is needed */
	const struct count_resting *resting;	  /* borrowed */
	const struct anchor_processes *processes; /* borrowed */
};

/* For a window of the process, whose engine has not come yet. */
must_use int anchor_files_prepare(struct anchor_files *a, pid_t pid, struct err *e);
/* A window of p's is over: what is in its file is told.  Engines that rest go on with
 * theirs; all others of the process are removed, and those of children that it had
 * meanwhile.  counted: whose window is open; 0: nobody's, or p's. */
void anchor_files_take(const struct anchor_files *a, struct anchor_process *p,
		       uint32_t window, pid_t counted);

#endif
