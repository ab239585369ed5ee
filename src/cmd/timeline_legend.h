/* SPDX-License-Identifier: Apache-2.0
 *
 * timeline_legend - the characters of a timeline in text, and what they mean.
 *
 * The functions that threads were in for longest have letters, capital ones where the
 * thread ran for at least half of a cell; what a thread waits for has signs.
 */
#ifndef DWELL_CMD_TIMELINE_LEGEND_H
#define DWELL_CMD_TIMELINE_LEGEND_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/timeline_view.h"

#define TIMELINE_LEGEND_LETTERS 16

struct timeline_legend {
	uint32_t functions[TIMELINE_LEGEND_LETTERS];
	size_t n;
	/* What was drawn, and must be said. */
	bool has_kind[CHRONICLE_N_KINDS], has_others, has_small;
};

void timeline_legend_make(struct timeline_legend *l, const struct timeline_view *v);
/* What a cell is drawn as. */
char timeline_legend_of(struct timeline_legend *l, const struct chronicle_cell *c,
			double cell_ns);
void timeline_legend_print(const struct timeline_legend *l, const struct timeline_view *v,
			   FILE *out);

#endif
