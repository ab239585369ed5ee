/* SPDX-License-Identifier: Apache-2.0
 *
 * perf_attach - perf events of what runs already.
 *
 * Threads are born while they are gone through: those whose parent is observed are told
 * of by the kernel, the others are found in a further round.  So it is with the
 * descendants of a process, which a server's workers are.
 */
#ifndef DWELL_COLLECT_PERF_ATTACH_H
#define DWELL_COLLECT_PERF_ATTACH_H

#include <stdbool.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/perf_feed.h"
#include "collect/source.h"

/* Open the feed's files for the processes, threads or CPUs of the scope, and learn what
 * these run.  Waits that have begun are taken from now on, if the feed has waits;
 * has_kernel: with the kernel's part of their stacks. */
must_use int perf_attach(struct perf_feed *feed, const struct scope *scope,
			 bool has_kernel, struct err *e);

#endif
