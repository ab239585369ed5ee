/* SPDX-License-Identifier: Apache-2.0
 *
 * inject - tracing brought to a process that runs, and taken from it again.
 *
 * A library of ours is put into its memory, and the slots by which its objects reach the
 * calls that are traced lead there from then on (docs/design/015-injection.md).  One of
 * its threads stands while it is put there, all while slots are changed, and none when it
 * goes on.
 */
#ifndef DWELL_COLLECT_INJECT_H
#define DWELL_COLLECT_INJECT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

struct inject;

/* NULL: it can be done here; else why not. */
extern const char *const inject_why_not;

/* directory: where the tracer meets its recorder, also by the process' own eyes.  traces:
 * of enum wire_tracer_trace.  ERR_UNSUPPORTED: it is as it was. */
must_use int inject_begin(pid_t pid, const char *directory, uint32_t traces,
			  struct inject **ret, struct err *e);
/* Objects may have been loaded since: now and then.  ERR_UNSUPPORTED: with one of them it
 * may be traced no longer, and is to be ended. */
must_use int inject_look(struct inject *i, struct err *e);
/* These processes of one recorder are as they were, but for memory of ours that nobody
 * comes by; so are children that they made since, which are looked for once for all of
 * them.  Frees them.  Otherwise *e says what is left first.  *stood_ns: more, by how long
 * threads of them stood in all: each time from when the first was asked to. */
int inject_end(struct inject *const *all, size_t n, uint64_t *stood_ns, struct err *e);

#endif
