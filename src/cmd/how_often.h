/* SPDX-License-Identifier: Apache-2.0
 *
 * how_often - in one sentence, how many instructions were executed and who says so.
 */
#ifndef DWELL_CMD_HOW_OFTEN_H
#define DWELL_CMD_HOW_OFTEN_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/frequency.h"
#include "base/buf.h"

struct how_often {
	double low, high; /* instructions */
	bool is_estimated;
	/* By whom then; 0: it is not by these. */
	uint32_t n_windows;	/* of exact counts */
	double retired_samples; /* of a counter */
	enum frequency_confidence least, most;
};

/* "4.3–5.2 M instructions, by exact counts in 16 windows: confidence high" */
void how_often_put(const struct how_often *h, struct buf *to);

#endif
