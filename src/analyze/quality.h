/* SPDX-License-Identifier: Apache-2.0
 *
 * quality - what a profile does not hold: lost, cut off, without a name, not read.
 *
 * Computed once per report and shown at its end.  Nothing is rescaled: gaps are told.
 */
#ifndef DWELL_ANALYZE_QUALITY_H
#define DWELL_ANALYZE_QUALITY_H

#include "analyze/profile.h"
#include "unwind/stop.h"

/* An image with samples that have no function name. */
struct quality_image {
	const char *image;
	const char *problem; /* why, and what to do; or NULL */
	uint64_t weight;     /* in the column where its share is largest ... */
	size_t column;	     /* ... which is this one */
};

/* How often a sampled clock was to be read and how often it was; asked_ns 0 unknown. */
struct quality_rate {
	uint64_t asked_ns, expected, delivered;
	uint64_t tick_ns; /* of the system's timers where they were used, else 0 */
	bool is_throttled;
};

struct quality_column {
	struct quality_rate rate;
	double not_timed_share; /* of what ideal time is computed from */
	double on_share;	/* of the time; events that took turns are scaled by it */
	uint64_t total, truncated, unresolved;
	uint64_t truncated_by[UNWIND_N_STOPS]; /* by reason */
};

/* What the recorder could not see at all: no sample tells of it. */
#define QUALITY_N_GAPS	    34
#define QUALITY_GAP_RUNNING 8 /* no rusage has those processes */

struct quality_gap {
	const char *fact; /* FACT_LOSS of the recording */
	const char *text; /* "processes without a buffer" */
	bool is_counted;  /* else the number says yes or no */
};

extern const struct quality_gap quality_gaps[QUALITY_N_GAPS];

/* A loss that a later recorder states and that there are no words for here. */
struct quality_loss {
	const char *name;
	uint64_t n;
};

struct quality_source {
	uint64_t lost_samples; /* of all events, whichever are shown */
	uint64_t taken_samples;
	uint64_t gaps[QUALITY_N_GAPS];
	struct quality_loss *others;
	size_t n_others;
	bool has_cpu;		      /* CPU time was sampled, and the rusage is known */
	uint64_t sampled_ns, used_ns; /* before the filter */
	uint64_t period_ns;	      /* of those samples; 0: varies */
	uint64_t self_cpu_ns;	      /* the profiler's own; 0 unknown */
	uint64_t wall_ns;	      /* of the target; 0 unknown */
	uint64_t asleep_ns;	      /* the machine was, beside that */
	uint64_t stolen_ns;	      /* that a hypervisor took of all CPUs meanwhile */
	const char *damage;	      /* one line, or NULL */
	bool is_complete;
	size_t n_bad_blocks;
	const char *bad_block; /* what was wrong with the first, or NULL */
};

struct quality {
	struct quality_column *columns;
	struct quality_source *sources;
	struct quality_image *images; /* heaviest first */
	size_t n_columns, n_sources, n_images;
};

/* Of an event of a recording, whatever the filter. */
struct quality_rate quality_rate_of(const struct recording *r, uint32_t event);
void quality_measure(struct quality *ret, const struct profile *p);
void quality_fini(struct quality *q);
/* Something could not be read: reports still print, but do not end well. */
bool quality_is_damaged(const struct quality *q);
/* Is everything here that the target did, with its whole stack and names? */
bool quality_is_complete(const struct quality *q);

#endif
