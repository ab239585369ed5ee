/* SPDX-License-Identifier: Apache-2.0
 *
 * wait_place - places beside the ring's records, for what threads wait for just now.
 *
 * A thread has one only while it waits, and mostly the same again.  One that jumps out of
 * a wait, or is cancelled in it, keeps it for the next wait of whoever has its struct.
 */
#ifndef DWELL_INJECT_WAIT_PLACE_H
#define DWELL_INJECT_WAIT_PLACE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/sampler.h"

struct wait_place {
	uint32_t at; /* below WIRE_SAMPLER_N_WAITING; before: any, where to look first */
	bool is_taken;
};

/* False: all are taken. */
bool wait_place_take(struct wait_place *p);
void wait_place_give(struct wait_place *p);
/* In a forked child: all are free, whatever structs say. */
void wait_place_reset(void);

#endif
