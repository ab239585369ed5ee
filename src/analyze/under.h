/* SPDX-License-Identifier: Apache-2.0
 *
 * under - exactly what was executed under functions that were chosen when recording.
 *
 * Beside it stands what calls share (call_shares.h), which is right for all functions
 * only as far as calls are alike.
 */
#ifndef DWELL_ANALYZE_UNDER_H
#define DWELL_ANALYZE_UNDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/own.h"

struct profile;

struct under {
	uint32_t *functions; /* in the order in which they were entered first */
	size_t n, n_columns;
	uint64_t *exact, *by_calls; /* inclusive: [i * n_columns + column] */
};

/* Of all recordings; empty where none was chosen, or samples are. */
void under_sum(struct under *ret, const struct profile *p);
void under_fini(struct under *u);

#endif
