/* SPDX-License-Identifier: Apache-2.0
 *
 * path_cost - how many cycles each instruction takes on the ways that lead to it.
 *
 * A processor is busy with what came before when it comes to a block.  So paths are laid
 * that end in it, each step back by chance as the caller tells, and scheduled as a whole;
 * a block takes the mean of what it took on all of them.  Chance is the same each time.
 */
#ifndef DWELL_INSN_PATH_COST_H
#define DWELL_INSN_PATH_COST_H

#include "insn/machine_model.h"
#include "insn/operation.h"
#include "insn/schedule.h"

#define PATH_COST_NONE UINT32_MAX

struct path_cost_chance {
	uint64_t state;
};

/* Below n. */
uint64_t path_cost_choose(struct path_cost_chance *c, uint64_t n);

struct path_cost {
	uint32_t n_blocks;
	const struct operation *operations;
	const uint32_t *first, *n; /* [block]: its operations; none: not known */
	const double *heat;	   /* [block]: how often its instructions are executed */
	bool is_draft;		   /* roughly will do: each block once, on a short path */
	unsigned most_visits; /* of a block, if there are more; 0: as many as there are */
	/* [operation]: the outcome, added to what is there. */
	double *cycles;
	/* The same, of these what was waited for; or NULL. */
	double (*waits)[SCHEDULE_N_WAITS];
	/* The operation whose outcome it waited for, mostly; PATH_COST_NONE: none, or now
	 * this one and now that.  NULL where waits is. */
	uint32_t *waits_for;
	/* What calls change, where that is in none of the blocks; 0: it is. */
	operation_registers changed_by_calls;
	/* The caller's; begin: a path is laid anew, or NULL.  Before: where it came to
	 * the block from, PATH_COST_NONE: from nowhere that is known.  Is_jump: the
	 * block's last instruction goes elsewhere than on when next comes behind it. */
	void *ctx;
	void (*begin)(void *ctx);
	uint32_t (*before)(void *ctx, uint32_t block, struct path_cost_chance *chance);
	bool (*is_jump)(void *ctx, uint32_t block, uint32_t next);
	/* Code that is in none of the blocks was executed between these; or NULL: never.
	 */
	bool (*is_apart)(void *ctx, uint32_t block, uint32_t next);
};

void path_cost_measure(const struct path_cost *c, const struct machine_model *m);

#endif
