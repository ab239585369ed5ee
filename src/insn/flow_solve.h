/* SPDX-License-Identifier: Apache-2.0
 *
 * flow_solve - how often the blocks and ways of a procedure were executed, as the time
 * that each block took, and where branches were seen to go, make it most likely.
 *
 * What comes to a block leaves it, whatever the numbers: ways out get shares of their
 * block, and these are changed until the time that is expected of all blocks, and the
 * shares that were seen, are met as well as can be.  A block that took longer than
 * expected counts for less than one that took less, for waits are many and gains few; and
 * what is far off counts for less than its square.  The same each time.
 */
#ifndef DWELL_INSN_FLOW_SOLVE_H
#define DWELL_INSN_FLOW_SOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLOW_SOLVE_OUTSIDE UINT32_MAX

struct flow_solve_block {
	double time; /* that it took, all times together */
	double cost; /* expected of each time, in the same unit; 0: nothing is */
	/* There may be more ways than are known. */
	bool is_open_in, is_open_out;
};

struct flow_solve_way {
	uint32_t from, to; /* blocks, or FLOW_SOLVE_OUTSIDE */
	double seen; /* so often after a sample; of a block's ways alone it matters */
	/* Its share where none of the block's ways was seen, if time tells nothing else;
	 * 0: as any. */
	double likely;
};

struct flow_solve_problem {
	uint32_t n_blocks, n_ways;
	const struct flow_solve_block *blocks;
	const struct flow_solve_way *ways;
	double grain; /* of time: a sample's */
	double doubt; /* how far a cost may be off: the logarithm's standard deviation */
	/* Of the same blocks and ways with other numbers: where the search begins; or
	 * NULL. */
	const struct flow_solve *near;
};

/* Executions.  Ways in and out that nobody knows are at those blocks that may have some,
 * that nothing leads to from outside, and that lead to nothing outside. */
struct flow_solve {
	double *of_block, *of_way, *unknown_in, *unknown_out;
	uint32_t n_rounds;
	double *point; /* where the search ended; NULL: there was none */
	size_t n_point;
	bool is_coarse; /* too much work: of each block only one way out was followed */
};

void flow_solve_make(struct flow_solve *ret, const struct flow_solve_problem *p);
void flow_solve_fini(struct flow_solve *s);
void flow_solve_finip(struct flow_solve *s);

#endif
