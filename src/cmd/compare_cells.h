/* SPDX-License-Identifier: Apache-2.0
 *
 * compare_cells - the cells of a table that tell what changed: a value of each
 * recording, and beside those of the others their difference to the first's and the
 * ratio.
 */
#ifndef DWELL_CMD_COMPARE_CELLS_H
#define DWELL_CMD_COMPARE_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/comparison.h"
#include "base/json.h"
#include "cmd/report_profile.h"
#include "cmd/report_table.h"

struct compare_cells {
	const struct report *r;
	const struct comparison *comparison;
	size_t event;
	bool has_values, has_ratio;
};

/* Above the first cell stands `what`. */
void compare_cells_titles(const struct compare_cells *c, struct report_table *t,
			  const char *what);
/* values: by column of the profile; NULL: the cells stay empty. */
void compare_cells_put(const struct compare_cells *c, struct report_table *t,
		       const uint64_t *values);
/* From the first recording to another. */
struct comparison_change compare_cells_change(const struct compare_cells *c,
					      size_t source, const uint64_t *values);
/* By what to order: the largest change that chance does not explain, else 0. */
uint64_t compare_cells_weight(const struct compare_cells *c, const uint64_t *values,
			      bool is_ratio);
bool compare_cells_is_chance(const struct compare_cells *c, const uint64_t *values);
/* Below the table: what values are, and the legend of "~" where it is shown. */
void compare_cells_print_notes(const struct compare_cells *c, bool has_chance, FILE *out);
/* "KEY_change", "KEY_ratio" and "KEY_chance" of all events. */
void compare_cells_json(const struct compare_cells *c, struct json *j, const char *key,
			const uint64_t *values);

#endif
