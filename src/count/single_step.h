/* SPDX-License-Identifier: Apache-2.0
 *
 * single_step - a program that has the CPU trap behind each instruction (its flag TF).
 *
 * The CPU traps behind each of translated code, and of the engine's until that has flags
 * of its own.  The program hears of those that end one of its instructions.  A direct
 * jump mostly has no code in translation, and then no trap either.
 */
#ifndef DWELL_COUNT_SINGLE_STEP_H
#define DWELL_COUNT_SINGLE_STEP_H

#include <stdbool.h>
#include <stdint.h>

struct context;
struct signal_info;

/* A thread's. */
struct single_step {
	const uint8_t *from; /* its last trap was there; NULL: the flag was set since */
	bool is_due;	     /* the program has yet to hear of one of its instructions */
};

bool single_step_is(const struct signal_info *info);

/* In the engine. */
void single_step_pass(struct context *c);

/* In translated code, or in the program's own.  False: there was no instruction of the
 * program's, or not all of it. */
bool single_step_ends(struct context *c, const uint8_t *code);

/* The program hears of it now, and comes back from that with these flags. */
void single_step_told(struct context *c);
void single_step_resume(struct context *c, uint64_t flags, const uint8_t *code);

#endif
