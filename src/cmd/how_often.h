/* SPDX-License-Identifier: Apache-2.0
 *
 * how_often - in one sentence, how many instructions were executed and who says so; and
 * who would tell better.
 */
#ifndef DWELL_CMD_HOW_OFTEN_H
#define DWELL_CMD_HOW_OFTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analyze/frequency.h"
#include "base/buf.h"
#include "cmd/report_profile.h"

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
/* "A recording of bbcounts beside this one tells exactly; anchors in it nearly do" */
void how_often_put_who_tells(const struct report *r, struct buf *to);
/* Why nothing was counted now and then although it was to be, as lines of the report. */
void how_often_put_refusal(const struct how_often *h, const struct report *r, FILE *out);

#endif
