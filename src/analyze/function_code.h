/* SPDX-License-Identifier: Apache-2.0
 *
 * function_code - one function's instructions and blocks with all that is known of each:
 * samples of time, how often it was executed, what a machine model expects.
 *
 * An interrupt is taken when the oldest instruction has retired: a sample is of the one
 * before the place where it landed.  So the time of a block's samples is that of the
 * instruction in front of each, but for those at its begin: these are of the way there.
 */
#ifndef DWELL_ANALYZE_FUNCTION_CODE_H
#define DWELL_ANALYZE_FUNCTION_CODE_H

#include "analyze/access_places.h"
#include "analyze/code_heat.h"
#include "analyze/frequency.h"
#include "analyze/miss_samples.h"
#include "analyze/profile.h"
#include "analyze/time_column.h"
#include "base/buf.h"
#include "insn/operation.h"
#include "insn/path_cost.h"
#include "insn/procedure.h"
#include "insn/schedule.h"

#define FUNCTION_CODE_NONE TIME_COLUMN_NONE

struct function_code_step {
	struct operation operation; /* all zeros: not known */
	uint64_t samples;	    /* that landed here */
	double cycles;		    /* that it was the oldest, all times together */
	double times;		    /* executed, negative: not known */
	double ideal; /* cycles each time if nothing is missing; negative: not known */
	/* Of these, why the machine does not do better. */
	double waits[SCHEDULE_N_WAITS];
	/* The step whose outcome it waits for, mostly; PATH_COST_NONE: no single one. */
	uint32_t waits_for;
};

struct function_code_block {
	uint64_t samples;
	double cycles, arrival;	      /* all times together; of that, at its begin */
	double times;		      /* entered, negative: not known */
	double times_low, times_high; /* the same as times where they were counted */
	uint8_t confidence;	      /* enum frequency_confidence */
	double ideal;		      /* cycles each time; negative: not known */
	/* Of its last instruction, a branch: samples after which it could not be told
	 * where that goes. */
	uint64_t untold;
};

struct function_code_way {
	double times; /* taken, negative: not known */
	double times_low, times_high;
	uint8_t confidence; /* enum frequency_confidence */
	bool is_in_windows; /* its part of the block was counted there */
	/* Passages after samples that went here, and the samples after which the first
	 * one did. */
	uint64_t told, told_samples;
	/* Of the passages, as the processor says: foreseen wrongly, and rightly. */
	uint64_t missed, foreseen;
};

struct function_code {
	struct buf code; /* from its start on */
	/* Link-time address minus stored offset. */
	uint64_t delta;
	bool has_delta;
	struct procedure *procedure;
	struct function_code_step *steps; /* as the procedure has them */
	struct function_code_block *blocks;
	struct function_code_way *ways;
	const struct machine_model *model; /* NULL: none is for such code */
	bool is_nearest_model;		   /* it is not made for this processor */
	double clock_ghz; /* 0: the CPU's counter of cycles was sampled */
	/* The profile's, FUNCTION_CODE_NONE: no time was sampled; the first of several
	 * recordings, which are added up. */
	size_t time_column;
	size_t count_column; /* the same: instructions were not counted */
	bool has_no_counts;  /* they were, but none of these */
	bool is_alone;	     /* in its process: nobody else writes its memory */
	bool is_estimated;   /* how often is what samples tell; confidence: how well */
	uint8_t confidence;  /* enum frequency_confidence: of its instructions */
	double all_cycles;   /* of time, of all functions */
	unsigned
		n_runs; /* recordings of time; where there are counts all is their mean */
	uint64_t samples; /* of the function's own code, and what they are in cycles */
	double cycles;
	/* Instructions, in so many runs, by samples of a counter of them; 0: there are
	 * none. */
	double retired, retired_samples;
	double retired_low, retired_high; /* 0: how often is not estimated by these */
	/* In which its blocks were counted exactly; 0: how often is not told by these. */
	uint32_t n_windows;
	struct miss_samples misses;
	struct access_places accesses;
	struct code_heat_lines heat; /* of its code */
	double times;		     /* entered from outside, negative: not known */
	double times_low, times_high;
	uint8_t times_confidence; /* enum frequency_confidence */
};

struct function_index;

struct function_code_options {
	const char *model; /* NULL: the recording's */
	double clock_ghz;  /* 0: the recording's */
	/* For many functions of a profile, or NULL; function_code_index() makes it. */
	const struct function_index *index;
};

must_use int function_code_index(const struct profile *p, struct function_index **ret,
				 struct err *e);

must_use int function_code_make(struct function_code *ret, const struct profile *p,
				uint32_t function, const struct function_code_options *o,
				struct err *e);
void function_code_fini(struct function_code *c);

/* How often it was, as far as that is known. */
static inline double function_code_taken(const struct function_code *c, uint32_t way)
{
	return c->ways[way].times > 0 ? c->ways[way].times : 0;
}

/* Runs that times and cycles are of, all together. */
static inline double function_code_runs(const struct function_code *c)
{
	return c->is_estimated && c->n_runs ? c->n_runs : 1;
}

#endif
