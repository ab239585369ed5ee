/* SPDX-License-Identifier: Apache-2.0
 *
 * tally_merge - recordings that tallies were written as, merged into one: the same bytes
 * as one tally of all of them would give.
 *
 * What is large in them is in order, so that the merge goes along it: memory is some
 * words for each stack, and a block of each.  One thread.
 */
#ifndef DWELL_STORE_TALLY_MERGE_H
#define DWELL_STORE_TALLY_MERGE_H

#include "base/err.h"
#include "base/own.h"
#include "store/tally.h"

struct tally_merge;

struct tally_merge *tally_merge_new(void);
void tally_merge_free(struct tally_merge *m);
void tally_merge_freep(struct tally_merge **m);

must_use int tally_merge_add(struct tally_merge *m, const char *path, struct err *e);
/* What is said of the whole, all but stacks and samples: more may be said. */
struct tally *tally_merge_front(struct tally_merge *m);
/* ERR_FORMAT: an input is damaged, or not in order. */
must_use int tally_merge_write(struct tally_merge *m, const char *path,
			       const struct tally_write_options *o, struct err *e);
/* The input that made the last call fail, or NULL; borrowed. */
const char *tally_merge_culprit(const struct tally_merge *m);

#endif
