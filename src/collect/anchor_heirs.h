/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_heirs - processes that nobody counts, and that have counters all the same: by
 * fork of one that is counted, or was until it ended.
 *
 * Their calls and jumps lead through copies of what was put into its memory, which harms
 * nothing, but is not what the program is without us.
 */
#ifndef DWELL_COLLECT_ANCHOR_HEIRS_H
#define DWELL_COLLECT_ANCHOR_HEIRS_H

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/anchor_counters.h"

/* Of what there are copies, each with another mark. */
struct anchor_heirs {
	VEC(struct anchor_counters) of;
};

void anchor_heirs_fini(struct anchor_heirs *h);

/* Takes what a process had, unless nobody has copies of that. */
void anchor_heirs_keep(struct anchor_heirs *h, struct anchor_counters *c);
/* All who have copies are as if there had been none; on failure the first that keeps
 * some. */
must_use int anchor_heirs_end(struct anchor_heirs *h, struct err *e);

#endif
