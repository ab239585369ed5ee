/* SPDX-License-Identifier: Apache-2.0
 *
 * forest - which ways between blocks need no counter.
 *
 * What flows into a block flows out of it.  So ways without a counter can be told from
 * the others as long as they close no circle: they join parts that were apart before.
 * Blocks and what is outside of all code are parts at first.
 */
#ifndef DWELL_COUNT_FOREST_H
#define DWELL_COUNT_FOREST_H

#include <stdbool.h>
#include <stdint.h>

/* Outside: where returns go to and come from. */
#define FOREST_GROUND 0u

struct forest {
	uint32_t *parents; /* room for max */
	uint32_t n, max;
};

void forest_init(struct forest *f, uint32_t *room, uint32_t max);

/* All parts are gone. */
void forest_clear(struct forest *f);

/* A part of its own. */
uint32_t forest_add(struct forest *f);

bool forest_is_apart(struct forest *f, uint32_t a, uint32_t b);

/* False: they were joined before. */
bool forest_join(struct forest *f, uint32_t a, uint32_t b);

#endif
