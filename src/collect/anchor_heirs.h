/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_heirs - processes that nobody counts, and that have counters all the same: by
 * fork of one that is counted.
 *
 * Their calls and jumps lead through copies of what was put into its memory, which harms
 * nothing, but is not what the program is without us.
 */
#ifndef DWELL_COLLECT_ANCHOR_HEIRS_H
#define DWELL_COLLECT_ANCHOR_HEIRS_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/own.h"
#include "base/vec.h"
#include "collect/anchor_counters.h"

struct anchor_heirs {
	VEC(struct anchor_counters) at;
};

void anchor_heirs_fini(struct anchor_heirs *h);

/* Of all processes those that have copies of these counters, but for whom the caller
 * knows. */
void anchor_heirs_find(struct anchor_heirs *h, const struct anchor_counters *of,
		       bool (*is_known)(void *ctx, pid_t pid), void *ctx);
/* They are as if there had been none; on failure the first that keeps some. */
must_use int anchor_heirs_end(struct anchor_heirs *h, struct err *e);

#endif
