/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_programs - which processes run the same program, in one recording or in several,
 * and what was sampled of it: in all, and in each function.
 *
 * What is counted now and then of some of them stands for all of them.
 */
#ifndef DWELL_ANALYZE_ANCHOR_PROGRAMS_H
#define DWELL_ANALYZE_ANCHOR_PROGRAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/own.h"
#include "base/vec.h"

struct profile;

#define ANCHOR_PROGRAMS_NONE UINT32_MAX

struct anchor_program_sample {
	uint64_t function; /* as anchor_programs_function has it */
	uint64_t time_ns, weight;
	uint32_t count, run;
};

/* Sampled: what passes the filter; all: of the processes that have such samples. */
struct anchor_program_part {
	double sampled_ns, all_ns;
	uint32_t n_processes; /* that were sampled */
};

struct anchor_program {
	double sampled_ns, all_ns;
	uint32_t n_processes, n_runs;
	bool are_several;		     /* processes, in one run */
	struct anchor_program_part *in_runs; /* [run] */
	/* By run and time; unless they are several, which are not in one order. */
	VEC(struct anchor_program_sample) samples;
};

/* A recording with samples of time. */
struct anchor_run {
	uint32_t source;
	uint32_t *of_process; /* the program of each; NONE: it was not sampled */
	double *all_of;	      /* of each such, all of its samples */
	double most; /* so many times what was sampled there may have been: 1 or more */
};

struct anchor_programs {
	VEC(struct anchor_run) runs;
	VEC(struct anchor_program) at;
	struct map of_function; /* function and program: weight */
};

/* Fills one that is all zeros, by the samples of CPU time that pass the filter. */
must_use int anchor_programs_read(struct anchor_programs *ret, const struct profile *p,
				  struct err *e);
void anchor_programs_fini(struct anchor_programs *a);

/* Of a function in samples. */
uint64_t anchor_programs_function(uint32_t sym_image, uint64_t start);
/* What was sampled of the program within the function that begins at an address. */
double anchor_programs_in(const struct anchor_programs *a, uint32_t program,
			  uint32_t sym_image, uint64_t start);

#endif
