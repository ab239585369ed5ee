/* SPDX-License-Identifier: Apache-2.0
 *
 * code_unit - memory for translated code, near the code that it stands for.
 *
 * Near is so that what reaches its data by 32-bit distances still does.  What is executed
 * often and what hardly is are apart.
 */
#ifndef DWELL_COUNT_CODE_UNIT_H
#define DWELL_COUNT_CODE_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "count/emit.h"

struct code_unit {
	uint64_t start, end;
	struct emit hot, cold;
	uint8_t *hot_end, *cold_end;
	struct code_mark *marks; /* by address */
	uint32_t n_marks;
};

/* Where a block's translation begins. */
struct code_mark {
	uint32_t off; /* from the unit's start */
	uint32_t block;
};

/* One from which start to end can be reached, with room for a fragment; aborts when there
 * is none. */
struct code_unit *code_unit_near(uint64_t start, uint64_t end);

/* All code that was translated is gone; the memory is used again. */
void code_unit_clear(void);
bool code_unit_has_room(void);

bool code_unit_reaches(const struct code_unit *u, uint64_t addr);

/* NULL: addr is not translated code. */
struct code_unit *code_unit_of(uint64_t addr);

/* The block begins where hot code goes on. */
void code_unit_mark(struct code_unit *u, uint32_t block);

/* The last block that begins at code or before, 0: none. */
uint32_t code_unit_block_at(const uint8_t *code, const uint8_t **start);

#endif
