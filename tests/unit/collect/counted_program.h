/* SPDX-License-Identifier: Apache-2.0
 *
 * counted_program - a program at random that is executed at random, in a file of counts
 * as the engine would leave it: ways without a counter are a forest.
 */
#ifndef DWELL_TESTS_COUNTED_PROGRAM_H
#define DWELL_TESTS_COUNTED_PROGRAM_H

#include <stdint.h>

#include "wire/count_file.h"

#define COUNTED_PROGRAM_FIRST	0x10000
#define COUNTED_PROGRAM_SIZE	4
#define COUNTED_PROGRAM_TARGETS 2000u /* blocks that are jumped to */
#define COUNTED_PROGRAM_N	2200u /* the rest leads on by itself */

/* Nothing of it is executed. */
void counted_program_make(unsigned seed);
/* From a return to block i until the next that leads out, or out of the first n. */
void counted_program_walk(uint32_t i, uint32_t n);
/* A thread begins there by itself, and so on. */
void counted_program_enter(uint32_t i, uint32_t n);
/* Indirect ways of the first n. */
uint32_t counted_program_pairs(uint32_t n);
/* With what is in the tables of block from on, of n, and all that was counted; a file
 * descriptor. */
int counted_program_file(const struct count_file_base *there, uint32_t from, uint32_t n);
/* Nothing was counted. */
void counted_program_clear(void);

#endif
