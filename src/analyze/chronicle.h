/* SPDX-License-Identifier: Apache-2.0
 *
 * chronicle - what each thread of a recording did, moment after moment.
 *
 * The time is divided into cells of the same length.  What a sample stands for is spread
 * over those that it was in; of each it is told how long the thread did what, and in
 * which function it was while it ran.  A thread is one thread, whatever
 * programs it runs.  Names are the profile's.
 */
#ifndef DWELL_ANALYZE_CHRONICLE_H
#define DWELL_ANALYZE_CHRONICLE_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/profile.h"
#include "analyze/chronicle_kind.h"
#include "base/err.h"
#include "base/vec.h"

struct chronicle_range {
	uint64_t from_ns, to_ns; /* since the recording began; to_ns 0: to its end */
	size_t n_cells;
};

struct chronicle_cell {
	double ns[CHRONICLE_N_KINDS];
	/* The innermost in which the thread was for more than half of the time that it
	 * ran, and for how long; MODEL_NONE: none is known. */
	uint32_t function;
	double function_ns;
};

struct chronicle_thread {
	const struct model_process *process; /* of its last sample */
	const struct model_thread *thread;
	double ns[CHRONICLE_N_KINDS];
	struct chronicle_cell *cells;
};

struct chronicle {
	uint64_t from_ns, to_ns; /* as the recording's times are */
	size_t n_cells;
	VEC(struct chronicle_thread) threads; /* who ran most first */
	bool has_kind[CHRONICLE_N_KINDS];     /* something tells of it */
};

/* n_threads: details of so many of them, the busiest, the others have no cells. */
must_use int chronicle_load(struct chronicle *t, const struct profile *p, size_t source,
			    const struct chronicle_range *range, size_t n_threads,
			    struct err *e);
void chronicle_fini(struct chronicle *t);

/* When a cell begins; that behind the last one is the end. */
uint64_t chronicle_cell_ns(const struct chronicle *t, size_t i);
/* The cell that a time is in, n_cells if it is in none. */
size_t chronicle_cell_at(const struct chronicle *t, uint64_t time_ns);
/* What the thread did most of what is known, CHRONICLE_NONE: nothing is. */
enum chronicle_kind chronicle_most(const double *ns);
/* The nearest whole number; the largest, where damage made more of it. */
uint64_t chronicle_whole(double value);

#endif
