/* SPDX-License-Identifier: Apache-2.0
 *
 * translate - code of the program, and counters in it.
 *
 * Blocks keep the order that the program's author, or compiler, chose: a fragment goes on
 * where the program would without a branch.  All but the ends of blocks is copied as it
 * is.
 */
#ifndef DWELL_COUNT_TRANSLATE_H
#define DWELL_COUNT_TRANSLATE_H

#include <stdbool.h>
#include <stdint.h>

struct code_unit;
struct emit;
struct place;

/* Its translation, made now if there is none. */
const void *translate(struct place *p);

/* The same, entered from a return. */
const void *translate_return(struct place *p);

/* A counter's addition; needs_flags: those that are set are not to change. */
void translate_count(struct emit *e, uint32_t counter, bool needs_flags);

/* A jump to the place, by way of the engine as long as it has no translation. */
void translate_jump(struct code_unit *u, struct emit *e, struct place *p);

#endif
