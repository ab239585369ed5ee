/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_windows - how much of a program's time each window of exact counts stands for.
 *
 * A window was opened at a time chosen by chance: it stands for the native time around
 * it. How long what was done in it takes natively is told by calls and jumps whose
 * counters were read right before and behind it.  Where there is none, it is supposed by
 * how long that took in translation.
 */
#ifndef DWELL_ANALYZE_ANCHOR_WINDOWS_H
#define DWELL_ANALYZE_ANCHOR_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>

struct anchor_window {
	double before_ns; /* native, since the window before, of whatever run */
	/* In its run: half of what is between windows, and all before the first and
	 * behind the last. */
	double own_before_ns, own_behind_ns;
	double code;	   /* that was executed in it, in any unit */
	double counted_ns; /* CPU time that this took in translation; 0: not known */
	double met;	   /* what has counters, in it ... */
	double near_hits;  /* ... and near it ... */
	double near_rate;  /* ... for each native nanosecond there */
	double stands_ns;  /* the result, and how often it is in that */
	double weight;
};

/* By what has counters. */
bool anchor_windows_is_known(const struct anchor_window *w);
/* False: too few are known. */
bool anchor_windows_weigh(struct anchor_window *w, size_t n);

/* By the time that they took alone, which is so many times as long as natively, off by
 * that, a logarithm.  False: it is not known. */
#define ANCHOR_WINDOWS_SUPPOSED 0.45
bool anchor_windows_suppose(struct anchor_window *w, size_t n);

#endif
