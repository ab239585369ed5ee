/* SPDX-License-Identifier: Apache-2.0
 *
 * inject_status - whether something can be put into a running process, by what /proc
 * tells of it.
 */
#ifndef DWELL_COLLECT_INJECT_STATUS_H
#define DWELL_COLLECT_INJECT_STATUS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

must_use int inject_status_check(pid_t pid, struct err *e);
/* Whether any of its threads may make the system calls of others: one may have a filter
 * that those which were there before do not have. */
must_use int inject_status_check_threads(pid_t pid, struct err *e);

bool inject_status_ignores(pid_t pid, int signal);

/* Is the directory the one that is meant, by its own eyes? */
must_use int inject_status_check_directory(pid_t pid, const char *directory,
					   struct err *e);

#endif
