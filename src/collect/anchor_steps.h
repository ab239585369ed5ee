/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_steps - registers that tell how often a loop was executed.
 *
 * In a window of exact counts some register may change by as many steps as a block is
 * executed, always of the same size: it counts that loop, or points to what the loop is
 * at.  While it does so in the windows on both sides, what it has become between them is
 * how often the block was executed there, natively; asking costs nothing, and the code
 * stays as it is.  A loop that was left and begun anew meanwhile looks like another
 * speed: unless all that a register tells is of about the same speed, it tells nothing.
 */
#ifndef DWELL_COLLECT_ANCHOR_STEPS_H
#define DWELL_COLLECT_ANCHOR_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/anchor_choice.h"
#include "collect/count_attach.h"

#define ANCHOR_STEPS_REGS 16

/* A block's address and the step that a register takes each time that it is executed. */
struct anchor_steps_walk {
	uint64_t addr;
	int64_t step;
	uint32_t reg;
};

/* Between two windows. */
struct anchor_steps_gap {
	struct anchor_steps_walk walk;
	uint32_t window; /* the next */
	uint64_t times, cpu_ns;
};

struct anchor_steps_walks {
	VEC(struct anchor_steps_walk) all;
};

struct anchor_steps {
	struct anchor_steps_walks walks; /* as the last window has them */
	VEC(struct anchor_steps_gap) gaps;
	struct count_stand left; /* the last window */
	bool has_window;
	bool are_there; /* some register tells, as far as is known */
};

void anchor_steps_fini(struct anchor_steps *s);
/* Another program is executed. */
void anchor_steps_forget(struct anchor_steps *s);
/* After a window: what was executed in it, and where the program stood before and behind
 * it.  cpu_ns: natively, since the window before; 0: it was disturbed. */
void anchor_steps_window(struct anchor_steps *s, uint32_t window,
			 const struct count_stand *came, const struct count_stand *left,
			 uint64_t cpu_ns, const struct anchor_choice_block *blocks,
			 size_t n);
/* Drops those gaps that are not to be believed, and what is told twice. */
void anchor_steps_sift(struct anchor_steps *s);

#endif
