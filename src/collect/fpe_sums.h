/* SPDX-License-Identifier: Apache-2.0
 *
 * fpe_sums - how often one instruction, called in one way, raised what.
 */
#ifndef DWELL_COLLECT_FPE_SUMS_H
#define DWELL_COLLECT_FPE_SUMS_H

#include <stdint.h>

#include "collect/experiment.h"

#define FPE_SUMS_TYPES	7
#define FPE_SUMS_EVENTS (EXPERIMENT_FPE_TYPES + FPE_SUMS_TYPES)

/* Zero-initialise. */
struct fpe_sums {
	uint64_t of[FPE_SUMS_EVENTS]; /* by column of the experiment */
};

/* It raised these, enum wire_tracer_fpe_type; 0: nothing, after all. */
void fpe_sums_add(struct fpe_sums *s, uint32_t types);
/* What was added was not so.  The program may say it of what was not: nothing falls below
 * zero. */
void fpe_sums_take_back(struct fpe_sums *s, uint32_t types);

#endif
