/* SPDX-License-Identifier: Apache-2.0
 *
 * port_plan - which of a machine's ports has something to do in which cycle.
 *
 * It knows so many cycles at once; what was longer ago is forgotten.  All zero: none has
 * anything to do.  One thread.
 */
#ifndef DWELL_INSN_PORT_PLAN_H
#define DWELL_INSN_PORT_PLAN_H

#include <stdint.h>

#include "insn/machine_model.h"

#define PORT_PLAN_WORDS	 32
#define PORT_PLAN_CYCLES ((uint64_t)PORT_PLAN_WORDS * 64)

struct port_plan {
	/* What ports do in 64 cycles; a word is each time another 64. */
	struct port_plan_word {
		uint64_t number[MACHINE_MODEL_MAX_PORTS];
		uint64_t busy[MACHINE_MODEL_MAX_PORTS];
	} words[PORT_PLAN_WORDS];
	uint64_t n_taken[MACHINE_MODEL_MAX_PORTS]; /* cycles, in all */
};

/* Of these ports, one at least, the one that is free first from that cycle on does it, n
 * cycles long; of several the one that had least to do.  In which cycle it begins. */
uint64_t port_plan_take(struct port_plan *plan, uint32_t ports, uint64_t cycle,
			unsigned n);

#endif
