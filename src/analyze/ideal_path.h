/* SPDX-License-Identifier: Apache-2.0
 *
 * ideal_path - how many cycles each instruction takes, on the ways that lead to it.
 *
 * Paths over all functions (insn/path_cost), each step back by chance in proportion to
 * how often it was taken.
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
