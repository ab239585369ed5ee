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

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"

struct inject;
struct inject_copy;
struct wire_injected;

/* NULL: it can be done here; else why not. */
extern const char *const inject_why_not;

/* directory: where the tracer meets its recorder, also by the process' own eyes.  traces:
 * of enum wire_tracer_trace.  until_ns: when what is in the way, as a thread that has no
 * CPU to stop on, is waited for no longer.  ERR_UNSUPPORTED: it is as it was. */
must_use int inject_begin(pid_t pid, const char *directory, uint32_t traces,
			  uint64_t until_ns, struct inject **ret, struct err *e);
/* Objects may have been loaded since: now and then.  ERR_UNSUPPORTED: with one of them it
 * may be traced no longer, and is to be ended. */
must_use int inject_look(struct inject *i, struct err *e);
/* It is as it was, but for memory of ours that nobody comes by.  Otherwise *e says what
 * is left.  until_ns: as above.  *stood_ns: more, by how long threads of it stood in all:
 * each time from when the first was asked to. */
must_use int inject_leave(struct inject *i, uint64_t until_ns, uint64_t *stood_ns,
			  struct err *e);
/* Likewise of a child that it has made since, when it has been left itself. */
must_use int inject_leave_copy(const struct inject *i, pid_t pid, uint64_t until_ns,
			       struct err *e);
void inject_free(struct inject *i);

/* What has been put there tells that it is ours. */
const struct wire_injected *inject_head(const struct inject *i);
bool inject_is_first_of(const struct inject *i, const struct inject_copy *copy);

#endif
