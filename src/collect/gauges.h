/* SPDX-License-Identifier: Apache-2.0
 *
 * gauges - global data: what the system counts of the observed processes and of the
 * machine, once an interval, and the intervals that this cuts a recording into.
 *
 * An interval ends by a timer, or by whoever has a cause.  What cannot be read is left
 * out.  One thread.
 */
#ifndef DWELL_COLLECT_GAUGES_H
#define DWELL_COLLECT_GAUGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/own.h"
#include "base/vec.h"

struct gauges;
struct writer;

struct gauges_settings {
	struct writer *writer; /* borrowed */
	const pid_t *pids;     /* copied; none: the machine alone */
	size_t n_pids;
	bool follows_children;
	uint64_t every_ns; /* 0: intervals end by other causes only */
};

/* The end of an interval. */
struct gauges_cut {
	uint64_t time_ns;
	bool is_by_timer;
};

/* In the order in which they were heard of, which may be later. */
struct gauges_cuts {
	VEC(struct gauges_cut) heard;
};

/* The first interval begins. */
struct gauges *gauges_new(const struct gauges_settings *s, uint64_t now_ns);
void gauges_free(struct gauges *g);
void gauges_freep(struct gauges **g);

/* When the timer ends the interval; 0: it does not. */
uint64_t gauges_due_ns(const struct gauges *g);
bool gauges_are_due(const struct gauges *g, uint64_t now_ns);
/* It is that late: now and then. */
void gauges_settle(struct gauges *g, uint64_t now_ns);
/* An interval ended then for that cause, and is called so: "" or a name.  One that ends
 * before others that have been told of already cuts the first of these in two.  False: it
 * is too late for that. */
bool gauges_cut(struct gauges *g, uint64_t time_ns, const char *cause, const char *name);
/* To end the last interval has taken so much CPU time elsewhere: the timer waits until
 * that is a small part of the next one. */
void gauges_spare(struct gauges *g, uint64_t took_ns);
/* Of all intervals so far; borrowed, and grows. */
const struct gauges_cuts *gauges_cuts(const struct gauges *g);
/* All ends have been told of; after the last that may come. */
void gauges_finish(struct gauges *g);

#endif
