/* SPDX-License-Identifier: Apache-2.0
 *
 * anchor_steps - registers and words of memory that tell how often a loop was executed.
 *
 * In a window of exact counts some register may change by as many steps as a block is
 * executed, always of the same size: it counts that loop, or points to what the loop is
 * at.  A word of memory may do so as well, where a variable is in no register.  While it
 * does so in the windows on both sides, what it has become between them is how often the
 * block was executed there, natively; asking costs next to nothing, and the code stays as
 * it is.  A loop that was left and begun anew meanwhile looks like another speed, and so
 * does memory that is another variable's by then: unless most of what a place tells is of
 * about the same speed, it tells nothing, and never what is not.  A static variable that
 * is believed tells of less than that, too: the program did something else meanwhile.
 */
#ifndef DWELL_COLLECT_ANCHOR_STEPS_H
#define DWELL_COLLECT_ANCHOR_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "collect/anchor_choice.h"
#include "collect/anchor_words.h"
#include "collect/count_attach.h"

/* By its number, or an address; no address is as low as such a number. */
#define ANCHOR_STEPS_REGS 16

/* A block's address and the step that a place takes each time that it is executed. */
struct anchor_steps_walk {
	uint64_t place;
	uint32_t bytes; /* that it has: 8 or 4 */
	int32_t step;
	uint64_t addr;
};

/* Between two windows. */
struct anchor_steps_gap {
	struct anchor_steps_walk walk;
	uint32_t window; /* the next */
	uint64_t times, cpu_ns;
	bool is_anew;  /* it was begun anew: times is not what happened */
	bool is_named; /* by code: there is no other variable */
};

struct anchor_steps_walks {
	VEC(struct anchor_steps_walk) all; /* by place, then by block */
};

/* What there was when the program stood; of several threads tid is 0. */
struct anchor_steps_view {
	struct count_stand stand;
	struct anchor_words words;
};

struct anchor_steps {
	struct anchor_steps_walks walks; /* as the last window has them */
	VEC(struct anchor_steps_gap) gaps;
	struct anchor_steps_view before, came,
		left;			 /* before: the last window was left */
	struct anchor_words_named named; /* by the code of the last window */
	bool has_window;
	bool are_there; /* some place tells, as far as is known */
};

/* What a window was. */
struct anchor_steps_window {
	uint32_t number;
	/* Of CPU time: since the window before, 0: it was disturbed; and in it, as it
	 * would be natively, about. */
	uint64_t gap_ns, cpu_ns;
	const struct anchor_choice_block *blocks; /* that were executed in it */
	size_t n;
};

void anchor_steps_fini(struct anchor_steps *s);
/* Another program is executed. */
void anchor_steps_forget(struct anchor_steps *s);
/* A window begins; then look for its threads, of struct count_look. */
void anchor_steps_begin(struct anchor_steps *s);
void anchor_steps_look(void *steps, const struct count_stand *stand, bool is_left);
void anchor_steps_end(struct anchor_steps *s, const struct anchor_steps_window *w);
/* Drops those gaps that are not to be believed, and what is told twice. */
void anchor_steps_sift(struct anchor_steps *s);

#endif
