/* SPDX-License-Identifier: Apache-2.0
 *
 * stalls_lines - where the cycles went as the lines of a summary, each in cycles: what
 * is told of a cause is always a range; all else is one where how often is an estimate.
 */
#ifndef DWELL_CMD_STALLS_LINES_H
#define DWELL_CMD_STALLS_LINES_H

#include <stdbool.h>

#include "analyze/stall_scales.h"
#include "analyze/stall_sum.h"

enum stalls_part {
	STALLS_CAUSE, /* a range in which nothing is the likeliest */
	STALLS_PART,
	STALLS_SUBTOTAL, /* of those behind it, up to the next */
};

struct stalls_line {
	const char *text;
	uint8_t part;  /* enum stalls_part */
	bool is_range; /* from low to high */
	/* Those of all subtotals are the whole together. */
	double mean, low, high;
};

/* Which is which; of causes and waits the first. */
enum stalls_place {
	STALLS_DYNAMIC,
	STALLS_CAUSES,
	STALLS_UNEXPLAINED = STALLS_CAUSES + STALL_N_CAUSES,
	STALLS_GAIN,
	STALLS_STATIC,
	STALLS_WAITS,
	STALLS_EXECUTION = STALLS_WAITS + SCHEDULE_N_WAITS,
	STALLS_ERROR,
	STALLS_N_LINES
};

struct stalls_lines {
	bool is_estimated; /* how often: lines that are no causes are ranges, too */
	struct stalls_line at[STALLS_N_LINES];
};

/* Of what is settled.  scales: NULL where how often was counted. */
void stalls_lines_make(struct stalls_lines *ret, const struct stall_sum *sum,
		       const struct stall_scales *scales);

#endif
