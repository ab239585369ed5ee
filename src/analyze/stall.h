/* SPDX-License-Identifier: Apache-2.0
 *
 * stall - where a function waits longer than it would at best, and every cause of that
 * which cannot be ruled out.
 *
 * A block's stall is its time beyond the best case.  It is charged to those of its
 * instructions that took longer than at best, and to the way there: what others took less
 * is theirs, for they retire in a burst once the oldest one is done.  The causes come
 * from what the instruction is and from what is around it; a bound is told where there is
 * one.
 */
#ifndef DWELL_ANALYZE_STALL_H
#define DWELL_ANALYZE_STALL_H

#include "analyze/function_code.h"

enum stall_cause {
#define CAUSE(name, text) STALL_##name,
#include "analyze/stall_causes.def"
#undef CAUSE
	STALL_N_CAUSES
};

#define STALL_MAX_CULPRITS 8

struct stall_culprit {
	uint8_t cause;	 /* enum stall_cause */
	uint32_t blamed; /* step; PROCEDURE_OUTSIDE: none in particular */
	double most;	 /* cycles each time; negative: any number */
};

struct stall {
	double cycles; /* each time, 0: none that counts */
	unsigned n;
	struct stall_culprit culprits[STALL_MAX_CULPRITS];
};

struct stalls {
	struct stall *of_step, *of_arrival; /* [step], [block] */
};

/* Needs samples and counts; without them nothing stalls. */
void stall_find(struct stalls *ret, const struct function_code *c);
void stall_fini(struct stalls *s);
/* "D-cache miss" */
const char *stall_cause_text(enum stall_cause cause);

#endif
