/* SPDX-License-Identifier: Apache-2.0
 *
 * place - an address of the program where blocks begin, or will, in one nest.
 *
 * Known from when something leads there.  All of it under the engine's lock.
 */
#ifndef DWELL_COUNT_PLACE_H
#define DWELL_COUNT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "count/code_change.h"
#include "wire/count_file.h"

/* A line of the cache, for there are many. */
struct place {
	uint64_t addr;
	uint64_t code;	      /* its translation, 0: none yet */
	uint64_t return_code; /* the same with what counts a return, 0: not returned to
				 yet */
	uint32_t part;	      /* of the forest: what flows there */
	uint32_t nest : 7;
	uint32_t block : 24; /* of the translation; the newest if there were several */
	uint32_t is_watched : 1; /* code_change.c's, and what follows */
	uint64_t was;  /* the translation, as long as nobody knows if it is good */
	uint64_t away; /* where it leads then, 0: it never did */
	uint32_t sum;  /* of the program's code */
	uint32_t next_in_page;	/* a place's number */
	uint16_t bytes : 15;	/* of that code */
	uint16_t has_begin : 1; /* that can be led elsewhere at any time */
	bool was_planned;	/* plan.c's: it has been a block before */
	uint8_t first_bytes[CODE_CHANGE_BYTES];
};

_Static_assert(sizeof(struct place) == 64 && COUNT_FILE_NESTS_MAX <= 1 << 7 &&
		       COUNT_FILE_BLOCKS_MAX <= 1 << 24,
	       "as it says");

void place_init(void);
void place_clear(void);

/* There is room for many more. */
bool place_has_room(void);

/* Never NULL, and stays where it is. */
struct place *place_at(uint32_t nest, uint64_t addr);

uint32_t place_number(const struct place *p);
struct place *place_numbered(uint32_t number);
/* Behind the last; the first has 1. */
uint32_t place_end(void);

#endif
