/* SPDX-License-Identifier: Apache-2.0
 *
 * place - an address of the program where blocks begin, or will.
 *
 * Known from when something leads there.  All of it under the engine's lock.
 */
#ifndef DWELL_COUNT_PLACE_H
#define DWELL_COUNT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

struct place {
	uint64_t addr;
	uint64_t code;	      /* its translation, 0: none yet */
	uint64_t return_code; /* the same with what counts a return, 0: not returned to
				 yet */
	uint32_t part;	      /* of the forest: what flows there */
	uint32_t block;	      /* of the translation; the newest if there were several */
	uint32_t n_blocks;
};

void place_init(void);

/* Never NULL, and stays where it is. */
struct place *place_at(uint64_t addr);

#endif
