/* SPDX-License-Identifier: Apache-2.0
 *
 * ideal_path - how many cycles each instruction takes, on the ways that lead to it.
 *
 * A processor is busy with what came before when it comes to a block.  So paths are laid
 * that end in it, each step back by chance in proportion to how often it was taken, and
 * scheduled as a whole; a block takes the mean of what it took on all of them.  Chance
 * is the same each time.
 */
#ifndef DWELL_ANALYZE_IDEAL_PATH_H
#define DWELL_ANALYZE_IDEAL_PATH_H

#include "analyze/block_graph.h"
#include "analyze/block_code.h"
#include "insn/machine_model.h"

/* cycles: one for each operation of the code.  function_of: [block], to find where calls
 * returned from. */
void ideal_path_measure(const struct block_graph *g, const struct block_code *c,
			const struct input *s, const uint32_t *function_of,
			const struct machine_model *m, double *cycles);

#endif
