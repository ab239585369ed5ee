/* SPDX-License-Identifier: Apache-2.0
 *
 * count_detach - the counting engine leaves a process.
 */
#ifndef DWELL_COLLECT_COUNT_DETACH_H
#define DWELL_COLLECT_COUNT_DETACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"

struct count_attached;
struct count_look;
struct count_tracee;

/* The process runs natively, and nothing of the engine is left in it, unless that was to
 * rest there and does (a->rests); also when it has ended or executes another program.  On
 * failure it goes on with the engine.  look: NULL, or who is to look if there is one
 * thread. */
must_use int count_detach(struct count_attached *a, const struct count_look *look,
			  struct err *e);
/* The same in one attempt, which waits for threads no longer than that. */
must_use int count_detach_try(struct count_attached *a, const struct count_look *look,
			      uint64_t limit_ns, struct err *e);

/* An engine that rests goes. */
void count_detach_resting(const struct count_attached *a);

/* The engine is in the memory of the process. */
bool count_detach_is_there(const struct count_attached *a);

/* And one of its threads waits for it to go, before it forbids itself system calls. */
bool count_detach_is_awaited(const struct count_attached *a);

/* All of its memory: how many. */
struct count_control_piece;
size_t count_detach_pieces(const struct count_attached *a,
			   struct count_control_piece **ret);

/* Its memory is the process's again; t, a thread whose signals are blocked, is none of
 * the engine's. */
void count_detach_memory(const struct count_attached *a, struct count_tracee *t);

#endif
