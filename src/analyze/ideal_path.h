/* SPDX-License-Identifier: Apache-2.0
 *
 * ideal_path - how many cycles each instruction of a block takes, on the ways that lead
 * to it.
 *
 * A processor is busy with what came before when it comes to a block: so the block is
 * scheduled behind the ways into it that were taken most, and what those came from.
 */
#ifndef DWELL_ANALYZE_IDEAL_PATH_H
#define DWELL_ANALYZE_IDEAL_PATH_H

#include "analyze/block_graph.h"
#include "analyze/ideal_code.h"
#include "insn/schedule.h"

struct ideal_path;

/* function_of: [block] whose functions are which, to find where calls returned from.
 * All are borrowed. */
struct ideal_path *ideal_path_new(const struct block_graph *g, const struct ideal_code *c,
				  const struct input *s, const uint32_t *function_of,
				  const struct machine_model *m);
void ideal_path_free(struct ideal_path *p);
void ideal_path_freep(struct ideal_path **p);
/* cycles: one for each of the block's instructions. */
void ideal_path_schedule(struct ideal_path *p, uint32_t block, double *cycles);

#endif
