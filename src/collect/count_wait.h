/* SPDX-License-Identifier: Apache-2.0
 *
 * count_wait - what has happened to a thread that we trace.
 */
#ifndef DWELL_COLLECT_COUNT_WAIT_H
#define DWELL_COLLECT_COUNT_WAIT_H

#include <sys/types.h>

enum count_wait {
	COUNT_WAIT_NONE, /* it runs */
	COUNT_WAIT_STOPPED,
	COUNT_WAIT_GONE,
};

/* how: WNOHANG, or 0; *ret_status of a thread that stands, as waitpid() has it.  How a
 * child of ours has ended is left to be asked for by who launched it. */
enum count_wait count_wait(pid_t tid, int how, int *ret_status);

#endif
