/* SPDX-License-Identifier: Apache-2.0
 *
 * roll - from anywhere in translated code to where the program has a state of its own.
 *
 * A thread can be interrupted among the instructions that were added to the program's.
 * Those are made here instead, up to the next of the program's; or undone, if the
 * program's own of which they are a part has not done anything yet.
 */
#ifndef DWELL_COUNT_ROLL_H
#define DWELL_COUNT_ROLL_H

#include <stdbool.h>
#include <stdint.h>

struct context;

struct roll_state {
	uint64_t regs[16]; /* by the instruction set's numbers */
	uint64_t flags;
	const uint8_t *code; /* what is executed next */
};

/* The instruction that the program executes next. */
struct roll_place {
	uint64_t addr;
	uint32_t block; /* that it is in, 0: it is the first of one without translation */
};

/* False: the engine will be entered next, and knows. */
bool roll_on(struct context *c, struct roll_state *s, struct roll_place *ret);

/* Where the program's instruction begins of which code is a part, up to where it could be
 * undone; NULL: code was added.  The lock is held. */
const uint8_t *roll_begin(struct context *c, const uint8_t *code);

/* On the way to the engine, which knows why. */
bool roll_has_left(const uint8_t *code);

#endif
