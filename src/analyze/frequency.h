/* SPDX-License-Identifier: Apache-2.0
 *
 * frequency - how often a function's blocks were executed, from samples alone.
 *
 * Samples, the directions of branches, and that what comes in goes out, tell well how
 * often one block is executed beside another (insn/flow_solve).  How often in all they
 * hardly tell: a processor that executes out of order has next to all its samples where
 * it waits, and the rest retires at once.  Three guesses are made of that: what an
 * execution may be expected to take, if what is far beyond is left out; instructions that
 * cannot wait long when they are the oldest, because their operands are there: what the
 * longest of them took is about their latency; and that three of four executions hardly
 * wait.  Each is off by a factor of two, often, so the estimate is a range.
 *
 * Where a counter of retired instructions was sampled, too, these samples are the scale:
 * of a function they come as often as its instructions, wherever exactly they land.
 */
#ifndef DWELL_ANALYZE_FREQUENCY_H
#define DWELL_ANALYZE_FREQUENCY_H

struct flow_solve;
struct function_code;

enum frequency_confidence {
	FREQUENCY_UNKNOWN, /* nothing is told */
	/* What samples tell: the range matters, not the number.  There is no better one
	 * of these: that all guesses agree, say, does not mean that they are right. */
	FREQUENCY_LOW,
	/* By the counter, but of few of the function's instructions or by few samples. */
	FREQUENCY_MEDIUM,
	/* Counted, or within a tenth in 19 of 20 cases. */
	FREQUENCY_HIGH,
};

/* Fills in what of the function was not counted.  Needs samples, the best case, and how
 * many cycles a sample stands for.  near: the flow by an earlier best case, or all zeros;
 * replaced by the one that is found. */
void frequency_estimate(struct function_code *c, double cycles_of_sample,
			struct flow_solve *near);
/* "low" */
const char *frequency_confidence_text(enum frequency_confidence confidence);

#endif
