/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_known - the file of counts of an engine that rests in a process: of what was
 * translated in former windows only as much is read and solved as the last one executed.
 */
#ifndef DWELL_COLLECT_ANCHOR_KNOWN_H
#define DWELL_COLLECT_ANCHOR_KNOWN_H

#include "base/err.h"
#include "base/own.h"
#include "collect/count_common.h"
#include "collect/count_reader.h"
#include "wire/count_file.h"

struct anchor_known {
	struct count_common *common; /* NULL: nothing is known */
	struct count_file_id id;     /* of which file */
};

void anchor_known_fini(struct anchor_known *k);
/* As count_reader_open(); what is read is gone when more is learnt. */
must_use int anchor_known_open(const struct anchor_known *k, const struct count_window *w,
			       struct count_reader *ret, struct err *e);
/* The same file is going to be read again. */
void anchor_known_learn(struct anchor_known *k, const struct count_window *w);

#endif
