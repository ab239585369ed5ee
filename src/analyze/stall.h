/* SPDX-License-Identifier: Apache-2.0
 *
 * stall - where a function waits longer than it would at best, and every cause of that
 * which cannot be ruled out.
 *
 * A stall is time beyond the best case, of blocks that go together (stall_group).  It is
 * charged to those of their instructions that took longer than at best, and to the ways
 * there: what others took less is theirs, for they retire in a burst once the oldest one
 * is done.  What the best case
 * has for a block's last instruction is expected where its samples land: at the begin of
 * those that it leads to.  Who may be the cause is told by stall_rules.
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

#define STALL_MAX_CULPRITS 16 /* more than causes */

struct stall_culprit {
	uint8_t cause;	 /* enum stall_cause */
	uint32_t blamed; /* step; PROCEDURE_OUTSIDE: none in particular */
	double most;	 /* cycles each time; negative: any number */
	/* Whose samples tell that it is no more, the profile's; NULL: the code does. */
	const char *event;
	bool is_unlikely; /* by what was seen; it may have been elsewhere all the same */
};

struct stall {
	double cycles;	    /* each time, 0: none that counts */
	double low, high;   /* the same, where how often was counted */
	double unexplained; /* of these: nobody is left who may have caused them */
	bool is_chance; /* so few samples that they may be chance; not less what others
			 * took less */
	unsigned n;
	/* The unlikely ones last. */
	struct stall_culprit culprits[STALL_MAX_CULPRITS];
};

struct stall_block {
	double best; /* cycles expected of its samples, all times; negative: not known */
	double beyond; /* what they were more; may be negative */
	uint32_t group;
};

/* Of the blocks of a group together, in cycles, all times. */
struct stall_group {
	double cycles, best;
	double beyond; /* what they were more; may be negative */
	double excess; /* what single instructions were more, that cannot be chance */
	double error;  /* chance may make so much of it, either way */
};

struct stalls {
	struct stall_group *groups;	    /* [first block of one] */
	struct stall *of_step, *of_arrival; /* [step], [block] */
	struct stall_block *blocks;	    /* [block] */
};

/* Needs samples, and how often, counted or estimated; without them nothing stalls.  Only
 * those that matter to people: half a cycle each time, and half a per cent of the
 * function's time. */
void stall_find(struct stalls *ret, const struct function_code *c);
/* All, also those that may be chance. */
void stall_find_all(struct stalls *ret, const struct function_code *c);
void stall_fini(struct stalls *s);
/* "D-cache miss" */
const char *stall_cause_text(enum stall_cause cause);

#endif
