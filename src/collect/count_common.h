/* SPDX-License-Identifier: Apache-2.0
 *
 * count_common - what files of counts of one program's children have in common, read
 * once.
 *
 * A child by fork has all of its parent's blocks and executes few.  Ways without a
 * counter join places to components; where nothing flows into one that has a counter,
 * nothing flows in it at all, so that the child is told without it.  Of one thread, for
 * one child at a time.
 */
#ifndef DWELL_COLLECT_COUNT_COMMON_H
#define DWELL_COLLECT_COUNT_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/own.h"
#include "collect/count_window.h"
#include "wire/count_file.h"

struct count_common;
struct count_reader;

/* Of a file's tables as much as there says; its id is not looked at. */
must_use int count_common_read(const struct count_window *w,
			       const struct count_file_base *there,
			       struct count_common **ret, struct err *e);
void count_common_free(struct count_common *c);

/* As much as it was told. */
const struct count_file_base *count_common_there(const struct count_common *c);
const struct count_reader *count_common_tables(const struct count_common *c);

/* r has what comes behind: its flow's blocks, pairs and returns are those of the child
 * alone, but refer to all by their numbers, and so do extras.  touched: by
 * COUNT_READER_CHUNK counters, if one of them may be other than 0.  Then r has all that
 * may have been executed, numbered anew. */
must_use int count_common_complete(struct count_common *c, const uint8_t *touched,
				   struct count_reader *r, struct err *e);

#endif
