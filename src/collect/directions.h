/* SPDX-License-Identifier: Apache-2.0
 *
 * directions - which way branches went right after samples.
 *
 * A sample's registers, and what was copied of its stack, mostly tell how the next
 * branches of the code go: they are followed as far as everything they depend on is
 * known.  All passages on the way count: where samples land is where time is spent, which
 * may be in one turn of a loop more than in another, so that the next passage alone would
 * weigh the ways by their time.  Sums per process, branch and target are kept until they
 * are written, which they are when there are many, so that memory is bounded: of one key
 * there may be several rows.  Registers are not kept.  What the code accesses on that way
 * is kept, too: see accesses.
 */
#ifndef DWELL_COLLECT_DIRECTIONS_H
#define DWELL_COLLECT_DIRECTIONS_H

#include "base/own.h"

struct directions;
struct roster_process;
struct stack_builder;
struct tracker_sample;

/* Borrows who knows the mappings, and its recording. */
struct directions *directions_new(struct stack_builder *b);
void directions_free(struct directions *d); /* NULL ok */

void directions_take(struct directions *d, struct roster_process *p,
		     const struct tracker_sample *s);
/* Put the sums into the recording, and begin anew. */
void directions_write(struct directions *d);

#endif
